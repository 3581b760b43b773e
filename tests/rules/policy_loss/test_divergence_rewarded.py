from tests.programs.policies import found, ppo
from tests.watched import findings

CODE = "POL307"


def test_fires_where_the_penalty_is_subtracted():
    (finding,) = findings(lambda: ppo("divergence rewarded"), CODE, overhead_budget=1.0)
    assert finding.component == "policy-loss"
    assert finding.seen


def test_quiet_where_the_penalty_is_added():
    assert not found(CODE, "divergence")
