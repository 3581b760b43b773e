from rldebug.rules.normalisation.large_reward_not_learned import LargeRewardNotLearned
from tests.judge import fires, quiet
from tests.rules.ladders import chances, ladder, passed


def test_fires_where_it_is_not_learned():
    found = fires(
        LargeRewardNotLearned(),
        ladder(passed("observed-action-reward"), chances("large-reward", [0.5, 0.5], [0.5, 0.5])),
    )
    assert "50% for left" in found.seen


def test_quiet_where_smaller_demands_fail_already():
    quiet(
        LargeRewardNotLearned(),
        ladder(chances("observed-action-reward", [0.5, 0.5], [0.5, 0.5]), passed("large-reward")),
    )
