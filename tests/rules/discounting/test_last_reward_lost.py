from rldebug.rules.discounting.last_reward_lost import LastRewardLost
from tests.judge import fires, quiet
from tests.rules.ladders import STILL, ladder, passed, values


def test_fires_where_zero_is_learned():
    found = fires(LastRewardLost(), ladder(values("constant-reward", [0.0], matched=["nothing-learned"])))
    assert "here 0.00" in found.seen


def test_quiet_where_actions_that_pay_are_learned():
    quiet(
        LastRewardLost(), ladder(values("constant-reward", [0.0], matched=["nothing-learned"]), passed("action-reward"))
    )


def test_quiet_where_nothing_moved():
    quiet(LastRewardLost(), ladder(values("constant-reward", [0.0], matched=["nothing-learned"], errors=STILL)))
