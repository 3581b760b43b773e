from rldebug.rules.discounting.future_reward_ignored import FutureRewardIgnored
from tests.judge import fires, quiet
from tests.rules.ladders import ladder, passed, values


def test_fires_where_the_first_step_is_worth_nothing():
    found = fires(
        FutureRewardIgnored(),
        ladder(
            passed("constant-reward", "observed-reward"),
            values("delayed-reward", [0.0, 1.0], matched=["future-ignored"]),
        ),
    )
    assert "first 0.00" in found.seen


def test_quiet_where_it_is_worth_too_little():
    quiet(
        FutureRewardIgnored(),
        ladder(passed("constant-reward", "observed-reward"), values("delayed-reward", [0.5, 1.0])),
    )
