from tests.programs.policies import found

CODE = "ENT301"


def test_fires_where_the_bonus_is_three_spreads():
    (finding,) = found(CODE, "entropy drowns")
    assert finding.component == "entropy"
    assert finding.seen


def test_quiet_where_the_bonus_is_small():
    assert not found(CODE)
