from tests.programs.written import found

CODE = "EVA364"


def test_fires_on_the_fault():
    (finding,) = found(CODE, "leaves", "played")
    assert finding.component == "evaluation"
    assert finding.where.line


def test_quiet_where_all_is_well():
    assert not found(CODE, kind="played")
