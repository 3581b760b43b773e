from rldebug.rules.value_loss.constant_reward_not_learned import ConstantRewardNotLearned
from tests.judge import fires, quiet
from tests.rules.ladders import ladder, values


def test_fires_where_the_value_rests_elsewhere():
    found = fires(ConstantRewardNotLearned(), ladder(values("constant-reward", [0.2])))
    assert "here 0.20" in found.seen


def test_quiet_where_it_is_undecided():
    quiet(ConstantRewardNotLearned(), ladder(values("constant-reward", [0.2], outcome="undecided")))
