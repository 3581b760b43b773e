from rldebug.rules.value_loss.observed_reward_not_learned import ObservedRewardNotLearned
from tests.judge import fires, quiet
from tests.rules.ladders import ladder, passed, values


def test_fires_where_a_reward_is_lost():
    found = fires(ObservedRewardNotLearned(), ladder(passed("constant-reward"), values("observed-reward", [1.0, 0.0])))
    assert "bad 0.00" in found.seen


def test_quiet_where_it_passed():
    quiet(ObservedRewardNotLearned(), ladder(passed("constant-reward", "observed-reward")))
