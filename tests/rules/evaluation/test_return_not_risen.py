import numpy as np

from rldebug.rules.evaluation.return_not_risen import ReturnNotRisen
from tests.judge import fires, not_enough, quiet
from tests.programs.worlds import learn, script
from tests.watched import watched

rule = ReturnNotRisen()


def curve(returns, untrained=150):
    at = [0] * untrained + list(range(1, len(returns) - untrained + 1))
    return script({"returns": list(returns), "lengths": [9] * len(returns), "at": at}, updates=1000)


def noise(count, mean=10.0, spread=4.0, seed=0):
    return np.random.default_rng(seed).normal(mean, spread, count)


def test_fires_where_returns_stay_and_a_gain_would_have_shown():
    found = fires(rule, curve(noise(1000, seed=3)))
    assert found.severity == "note"
    assert "95 %" in found.seen


def test_quiet_where_returns_rise():
    quiet(rule, curve(np.concatenate([noise(150), noise(850, mean=13.0, seed=1)])))


def test_quiet_where_too_few_episodes_could_tell():
    quiet(rule, curve(noise(60), untrained=20))


def test_not_enough_in_a_short_program():
    assert "episodes" in not_enough(rule, watched(lambda: learn(steps=40))[1])
