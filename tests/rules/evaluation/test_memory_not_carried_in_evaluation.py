from tests.programs.written import found

CODE = "EVA353"


def test_fires_on_the_fault():
    (finding,) = found(CODE, "forgets", "played")
    assert finding.component == "evaluation"
    assert finding.seen


def test_quiet_where_all_is_well():
    assert not found(CODE, kind="played")
