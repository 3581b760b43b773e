from tests.programs.written import found

CODE = "VAL385"


def test_fires_on_the_fault():
    (finding,) = found(CODE, "place", "critic")
    assert finding.component == "value-loss"
    assert finding.seen


def test_quiet_where_all_is_well():
    assert not found(CODE)
    assert not found(CODE, kind="critic")
