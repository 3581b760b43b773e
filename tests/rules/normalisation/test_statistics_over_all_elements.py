from __future__ import annotations

import numpy as np
import pytest

from rldebug.evidence.script import Event, Script
from rldebug.rules.normalisation.statistics_over_all_elements import StatisticsOverAllElements
from tests.judge import fires
from tests.programs.data import found, seen
from tests.programs.made import call, nodes, script
from tests.watched import watched

RNG = np.random.default_rng(0)
SCALE = np.array([0.1, 5.0, 300.0])


def made(one: bool, still: bool = False) -> Script:
    """A running normaliser whose deviation grows; for each element, or one for all."""
    audits = []
    for number in range(4):
        obs = RNG.normal(size=(128, 3)) * SCALE
        deviation = (40.0 if one else SCALE) * (1.0 if still else 1 + 0.1 * number)
        calls = [call(0, np.full(128, -1), obs / deviation, match="none")]
        audits.append((nodes(obs), calls))
    return script(audits)


def test_fires_on_one_deviation_for_all() -> None:
    assert list(StatisticsOverAllElements().check(made(one=True)))


def test_quiet_on_one_for_each() -> None:
    assert not list(StatisticsOverAllElements().check(made(one=False)))


def test_quiet_on_a_constant_factor() -> None:
    assert not list(StatisticsOverAllElements().check(made(one=True, still=True)))


def test_fires_on_a_program_that_does_so() -> None:
    assert found(StatisticsOverAllElements(), seen(watched, "normalised", "one deviation"))


def test_quiet_on_the_same_program_without_it() -> None:
    assert not found(StatisticsOverAllElements(), seen(watched, "normalised"))


def offline(way: str) -> Script:
    """Batches of a data set, changed within the network by statistics that were taken once."""
    obs = RNG.normal(size=(600, 3)) * SCALE + SCALE
    mean, deviation = {
        "one for all": (obs.mean(), obs.std()),
        "one for each": (obs.mean(axis=0), obs.std(axis=0)),
        "of rows": (obs.mean(axis=1, keepdims=True), obs.std(axis=1, keepdims=True)),
        "constants": (0.0, 300.0),
        "unchanged": (0.0, 1.0),
    }[way]
    entered = (obs - mean) / deviation
    events = []
    for number in range(8):
        rows = RNG.choice(600, size=64, replace=False)
        given = entered[rows]
        events.append(call(2 * number, rows, obs[rows].astype(np.float32), grad=True))
        first = np.array([given.min(), given.max(), given.mean(), given.std(ddof=1)])
        detail = {"kind": "regression", "first_input_shape": [64, 3], "line": ["train.py", 9]}
        events.append(Event(2 * number + 1, "term", number, 0, detail, {"rows": rows, "first_input": first}))
    return script([(nodes(obs), events)], [{"obs": {"std": SCALE.tolist()}}])


def test_fires_on_statistics_taken_once_of_all_elements_together() -> None:
    assert "in 8 losses" in fires(StatisticsOverAllElements(), offline("one for all")).seen


def acting(how: str) -> Script:
    """A data set that was changed before it was learned from; what is acted on is changed in the same way."""
    obs = RNG.normal(size=(600, 3)) * SCALE + SCALE
    mean, deviation = {
        "one for all": (obs.mean(), obs.std()),
        "one for each": (obs.mean(axis=0), obs.std(axis=0)),
        "constants": (100.0, 100.0),
    }[how]
    events = [call(each, np.array([each]), (obs[[each]] - mean) / deviation, acting=True) for each in range(40)]
    told = {"mean": obs.mean(axis=0).tolist(), "std": obs.std(axis=0).tolist()}
    return script([(nodes(obs.astype(np.float32)), events)], [{"obs": told}])


def test_fires_on_such_statistics_in_what_is_acted_on() -> None:
    assert "in 40 actions" in fires(StatisticsOverAllElements(), acting("one for all")).seen


@pytest.mark.parametrize("how", ["one for each", "constants"])
def test_quiet_on_others_in_what_is_acted_on(how: str) -> None:
    assert not list(StatisticsOverAllElements()._once(acting(how)))


@pytest.mark.parametrize("way", ["one for each", "of rows", "constants", "unchanged"])
def test_quiet_on_other_ways_to_change_them(way: str) -> None:
    assert not list(StatisticsOverAllElements()._once(offline(way)))
