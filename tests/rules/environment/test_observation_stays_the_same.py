from rldebug.rules.environment.observation_stays_the_same import ObservationStaysTheSame
from tests.judge import fires, not_enough, quiet
from tests.programs.worlds import Line, learn, script
from tests.watched import watched

rule = ObservationStaysTheSame()
STILL = {"looked": 500, "low": [0.5, 0.5], "high": [0.5, 0.5], "repeated": 0.998, "wide": False}
REWARD = {"count": 500, "distinct": 9}


def test_fires_where_nothing_can_be_seen():
    found = fires(rule, watched(lambda: learn(Line("still"), steps=220))[1])
    assert found.component == "environment"


def test_quiet_where_the_state_can_be_seen():
    quiet(rule, watched(lambda: learn(Line(), steps=220))[1])


def test_fires_and_is_quiet_on_bandits():
    fires(rule, script({"obs": STILL, "reward": REWARD, "lengths": [9, 12]}))
    quiet(rule, script({"obs": {**STILL, "low": [0.5], "high": [0.5]}, "reward": REWARD, "lengths": [9, 12]}))
    quiet(rule, script({"obs": STILL, "reward": REWARD, "lengths": [1, 1]}))


def test_quiet_where_pictures_have_equal_numbers_but_move():
    picture = {**STILL, "low": [0.0, 231.0, 16.0], "high": [0.0, 231.0, 16.0], "repeated": 0.0, "wide": True}
    quiet(rule, script({"obs": picture, "reward": REWARD, "lengths": [9, 12]}))


def test_not_enough_observations():
    assert "observations" in not_enough(rule, script({}))
