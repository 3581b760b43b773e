from rldebug.rules.normalisation.small_reward_not_learned import SmallRewardNotLearned
from tests.judge import fires, quiet
from tests.rules.ladders import chances, ladder, passed


def test_fires_where_it_is_not_learned():
    found = fires(
        SmallRewardNotLearned(),
        ladder(passed("observed-action-reward"), chances("small-reward", [0.5, 0.5], [0.5, 0.5])),
    )
    assert "50% for left" in found.seen


def test_quiet_where_smaller_demands_fail_already():
    quiet(
        SmallRewardNotLearned(),
        ladder(chances("observed-action-reward", [0.5, 0.5], [0.5, 0.5]), passed("small-reward")),
    )
