from rldebug.rules.environment.reward_not_finite import RewardNotFinite
from tests.judge import fires, not_enough, quiet
from tests.programs.worlds import Line, learn, script
from tests.watched import watched

rule = RewardNotFinite()


def test_fires_on_nan():
    found = fires(rule, watched(lambda: learn(Line("nan"), steps=60))[1])
    assert found.message == "a reward is NaN"
    assert found.severity == "error"


def test_fires_on_infinity():
    seen = {"count": 100, "min": "-inf", "max": 1.0, "mean": "-inf", "std": "nan"}
    assert fires(rule, script({"reward": seen})).message == "a reward is infinite"


def test_quiet_on_numbers():
    quiet(rule, watched(lambda: learn(steps=60))[1])


def test_quiet_where_rewards_cannot_be_read():
    unread = {"count": 100, "min": "inf", "max": "-inf", "mean": "nan"}
    quiet(rule, script({"reward": unread}))
    quiet(rule, script({"reward": {**unread, "min": 0.0, "max": 1.0}, "lanes": 2}))


def test_not_enough_rewards():
    assert not_enough(rule, script({"reward": {"count": 2, "mean": 0.0}}))
