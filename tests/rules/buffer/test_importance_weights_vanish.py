from __future__ import annotations

import numpy as np
import pytest

from rldebug.evidence.script import Event, Script
from rldebug.rule import NotEnough
from rldebug.rules.buffer.importance_weights_vanish import ImportanceWeightsVanish
from tests.programs.data import found, seen
from tests.programs.made import nodes, script
from tests.watched import watched

RNG = np.random.default_rng(0)


def made(low: float, high: float) -> Script:
    """Weights between two numbers, and one that is 1."""
    events = []
    for order in range(4):
        weight = np.append(RNG.uniform(low, high, 31), 1.0)
        events.append(
            Event(order, "term", order, 0, {"kind": "regression", "line": ["train.py", 3]}, {"weight": weight})
        )
    return script([(nodes(RNG.normal(size=(8, 2))), events)])


def test_fires_where_one_row_takes_all() -> None:
    (finding,) = ImportanceWeightsVanish().check(made(1e-5, 2e-4))
    assert "4 of 4 batches" in finding.seen


def test_quiet_on_weights_of_a_prioritised_replay() -> None:
    assert not list(ImportanceWeightsVanish().check(made(0.05, 0.8)))


def test_quiet_on_masks() -> None:
    mask = Event(0, "term", 0, 0, {"kind": "regression"}, {"weight": np.repeat([0.0, 1.0], [30, 2])})
    with pytest.raises(NotEnough):
        list(ImportanceWeightsVanish().check(script([(nodes(RNG.normal(size=(8, 2))), [mask])])))


def test_fires_on_a_program_that_does_so() -> None:
    assert found(ImportanceWeightsVanish(), seen(watched, "normalised", "weights vanish"))


def test_quiet_on_the_same_program_without_it() -> None:
    assert not found(ImportanceWeightsVanish(), seen(watched, "normalised"))
