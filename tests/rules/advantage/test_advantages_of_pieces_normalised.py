from tests.programs.written import found

CODE = "ADV379"


def test_fires_on_the_fault():
    (finding,) = found(CODE, "rows", "critic")
    assert finding.component == "advantage"
    assert finding.seen


def test_quiet_where_all_is_well():
    assert not found(CODE)
    assert not found(CODE, kind="critic")
    assert not found(CODE, kind="stepwise")
    assert not found(CODE, kind="dialogue")
