import numpy as np

from rldebug.evidence.learning import learning
from rldebug.evidence.run import Run


def curve(values, name="episode/return_mean"):
    return learning(Run.from_series({name: list(values)}, env_steps_per_update=100))


def test_speed_and_plateau_are_two_answers():
    rise = [min(10.0 * i, 200.0) for i in range(101)]
    fast, slow = curve(rise), curve([min(4.0 * i, 200.0) for i in range(101)])
    assert fast.settled
    assert fast.plateau == slow.plateau == 200.0
    assert fast.half < slow.half
    assert fast.most < slow.most
    assert abs(fast.half - 1000) < 700  # the moving average trails a little


def test_a_run_that_stays_where_it_is():
    noise = np.random.default_rng(0).normal(size=80)
    flat = curve(20.0 + noise)
    assert not flat.moved


def test_a_start_that_was_high_by_chance():
    noise = np.random.default_rng(0).normal(size=80)
    rising = np.linspace(-1.5, 1.5, 80) + noise
    rising[:3] = 1.4
    found = curve(rising)
    assert found.moved
    assert found.start < 0 < found.plateau


def test_a_run_that_is_still_rising():
    rising = curve([5.0 * i for i in range(80)])
    assert rising.moved
    assert not rising.settled


def test_a_run_that_falls_moves_too():
    falling = curve([max(100.0 - 5 * i, 0.0) for i in range(80)])
    assert falling.moved
    assert falling.plateau < falling.start
    assert falling.half is not None


def test_a_handful_of_readings_says_nothing():
    assert curve([1.0] * 5) is None
    assert learning(Run.from_series({})) is None


def test_the_next_best_stands_in_for_the_return():
    assert curve([float(i) for i in range(20)], name="reward/mean").name == "reward/mean"


def test_undefined_readings_are_passed_over():
    assert curve([float("nan"), 1.0] * 20).plateau == 1.0
