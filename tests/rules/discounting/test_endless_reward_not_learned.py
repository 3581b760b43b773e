from rldebug.rules.discounting.endless_reward_not_learned import EndlessRewardNotLearned
from tests.judge import fires, quiet
from tests.rules.ladders import ladder, passed, values


def test_fires_on_any_wrong_value():
    found = fires(EndlessRewardNotLearned(), ladder(values("truncated-episode", [2.7])))
    assert "here 2.70" in found.seen


def test_quiet_where_it_passed():
    quiet(EndlessRewardNotLearned(), ladder(passed("truncated-episode")))
