from tests.programs.written import found

CODE = "VAL385"


def test_fires_on_the_fault():
    (finding,) = found(CODE, "place", "critic")
    assert finding.component == "value-loss"
    assert finding.seen


def test_fires_on_targets_that_hold_the_value_after():
    (finding,) = found(CODE, "moved", "critic")
    assert "after" in finding.message
    assert finding.component == "value-loss"


def test_quiet_where_all_is_well():
    assert not found(CODE)
    assert not found(CODE, kind="critic")
