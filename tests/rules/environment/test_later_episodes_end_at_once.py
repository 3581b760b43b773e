from tests.programs.written import found

CODE = "ENV350"


def test_fires_on_the_fault():
    (finding,) = found(CODE, "stuck", "played")
    assert finding.component == "environment"
    assert finding.seen


def test_quiet_where_all_is_well():
    assert not found(CODE, kind="played")
