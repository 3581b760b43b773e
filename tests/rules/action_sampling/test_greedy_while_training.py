from tests.programs.policies import found, ppo
from tests.watched import findings

CODE = "ACT321"


def test_fires_where_the_likeliest_action_is_taken():
    (finding,) = findings(lambda: ppo("greedy"), CODE, overhead_budget=1.0)
    assert finding.component == "action-sampling"
    assert finding.seen


def test_quiet_where_actions_are_drawn():
    assert not found(CODE)
