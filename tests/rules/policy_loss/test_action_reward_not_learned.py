from rldebug.rules.policy_loss.action_reward_not_learned import ActionRewardNotLearned
from tests.judge import fires, quiet
from tests.rules.ladders import chances, ladder, passed


def test_fires_where_it_is_indifferent():
    found = fires(ActionRewardNotLearned(), ladder(passed("constant-reward"), chances("action-reward", [0.5, 0.5])))
    assert "50% for here" in found.seen


def test_quiet_where_it_is_undecided():
    quiet(
        ActionRewardNotLearned(),
        ladder(passed("constant-reward"), chances("action-reward", [0.5, 0.5], outcome="undecided")),
    )
