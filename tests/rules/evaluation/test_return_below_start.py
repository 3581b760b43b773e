from itertools import pairwise

import numpy as np

from rldebug.evidence.run import Run
from rldebug.rules.evaluation.return_below_start import ReturnBelowStart
from tests.judge import fires, not_enough, quiet


def run(mean, std=None, count=10.0, **more):
    readings = len(mean)
    numbers = {
        "episode/return_mean": list(mean),
        "episode/return_std": list(std) if std is not None else [8.0] * readings,
        "episode/count": [count] * readings,
    }
    return Run.from_series(numbers | more)


def curve(*parts):
    """Straight pieces between the given levels, ten readings each, with a little noise."""
    line = np.concatenate([np.linspace(a, b, 10) for a, b in pairwise(parts)])
    return [22.0, 21.0, 23.0, *(line + 0.2 * np.random.default_rng(0).normal(size=len(line)))]


FALLING = curve(22.0, 12.0, 9.5, 9.4, 9.4, 9.4)


def test_fires_when_the_return_sinks_below_the_untrained_policy_and_stays_there():
    found = fires(ReturnBelowStart(), run(FALLING))
    assert found.severity == "warning"
    assert "21.5" in found.seen


def test_fires_as_a_note_for_value_based_methods():
    assert fires(ReturnBelowStart(), run(FALLING, **{"exploration/epsilon": [0.1] * len(FALLING)})).severity == "note"


def test_quiet_when_the_return_rises():
    quiet(ReturnBelowStart(), run(curve(22.0, 60.0, 150.0, 200.0, 300.0, 400.0)))


def test_quiet_when_nothing_is_learned():
    quiet(ReturnBelowStart(), run(curve(22.0, 21.0, 22.0, 21.0, 22.0, 21.0)))


def test_quiet_when_it_recovers():
    quiet(ReturnBelowStart(), run(curve(22.0, 10.0, 9.5, 9.5, 12.0, 18.0)))


def test_quiet_when_a_good_policy_collapsed_later():
    quiet(ReturnBelowStart(), run(curve(22.0, 200.0, 9.5, 9.4, 9.4, 9.4)))


def test_quiet_when_the_drop_is_within_the_spread_of_the_first_returns():
    lines = [-1200.0 + 10 * each for each in curve(0.0, -5.0, -15.0, -15.0, -15.0, -15.0)[3:]]
    quiet(ReturnBelowStart(), run([-1200.0, -1180.0, -1220.0, *lines], std=[300.0] * 53))


def test_declines_when_the_start_had_too_few_episodes():
    not_enough(ReturnBelowStart(), run(FALLING, count=1.0))


def test_fires_as_a_note_in_a_log_that_may_be_of_a_value_based_method():
    watched = run(FALLING)
    assert fires(ReturnBelowStart(), Run.of(watched.readings, {"off_policy": True})).severity == "note"
    assert fires(ReturnBelowStart(), Run.of(watched.readings, {"off_policy": False})).severity == "warning"
