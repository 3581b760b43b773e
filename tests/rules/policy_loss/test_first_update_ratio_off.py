from tests.programs.policies import found, ppo
from tests.watched import findings

CODE = "POL300"


def test_fires_where_the_policy_acts_with_a_temperature():
    (finding,) = findings(lambda: ppo("temperature"), CODE, overhead_budget=1.0)
    assert finding.component == "policy-loss"
    assert finding.seen


def test_fires_where_a_few_actions_had_another_log_prob():
    (finding,) = findings(lambda: ppo("log-prob of the clipped", numbers=True), CODE, overhead_budget=1.0)
    assert "the others are exactly 1" in finding.seen


def test_fires_where_the_network_is_given_what_it_never_acted_on():
    assert findings(lambda: ppo("stored in other units"), CODE, overhead_budget=1.0)


def test_quiet_where_old_and_new_are_computed_alike():
    assert not found(CODE)


def test_quiet_where_actions_are_numbers():
    assert not found(CODE, numbers=True)


def test_quiet_where_the_ratio_is_to_an_average_of_the_last_policies():
    assert not found(CODE, "around an average", numbers=True)
