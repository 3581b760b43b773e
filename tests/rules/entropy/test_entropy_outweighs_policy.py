from tests.programs.policies import found, ppo
from tests.watched import findings

CODE = "ENT301"


def test_fires_where_the_bonus_is_three_spreads():
    (finding,) = findings(lambda: ppo("entropy drowns"), CODE, overhead_budget=1.0)
    assert finding.component == "entropy"
    assert finding.seen


def test_quiet_where_the_bonus_is_small():
    assert not found(CODE)
