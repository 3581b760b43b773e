from tests.programs.policies import found, ppo
from tests.watched import findings

CODE = "POL304"


def test_fires_where_the_range_lies_around_zero():
    (finding,) = findings(lambda: ppo("clip around 0"), CODE, overhead_budget=1.0)
    assert finding.component == "policy-loss"
    assert finding.seen


def test_quiet_where_the_range_lies_around_one():
    assert not found(CODE)
