from tests.programs.policies import found, ppo
from tests.watched import findings

CODE = "POL300"


def test_fires_where_the_policy_acts_with_a_temperature():
    (finding,) = findings(lambda: ppo("temperature"), CODE, overhead_budget=1.0)
    assert finding.component == "policy-loss"
    assert finding.seen


def test_quiet_where_old_and_new_are_computed_alike():
    assert not found(CODE)


def test_quiet_where_actions_are_numbers():
    assert not found(CODE, numbers=True)
