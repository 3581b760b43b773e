from __future__ import annotations

import numpy as np

from rldebug.evidence.script import Script
from rldebug.rules.normalisation.statistics_over_all_elements import StatisticsOverAllElements
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
