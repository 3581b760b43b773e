from rldebug.rules.advantage.later_reward_not_credited import LaterRewardNotCredited
from tests.judge import fires, quiet
from tests.rules.ladders import chances, ladder, passed


def test_fires_where_the_first_action_is_not_learned():
    found = fires(
        LaterRewardNotCredited(),
        ladder(passed("observed-action-reward"), chances("two-step-credit", [0.5, 0.5], [0.5, 0.5], [0.5, 0.5])),
    )
    assert "50% for fork" in found.seen


def test_quiet_where_it_passed():
    quiet(LaterRewardNotCredited(), ladder(passed("observed-action-reward", "two-step-credit")))
