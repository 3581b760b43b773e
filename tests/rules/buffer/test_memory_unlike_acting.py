"""The state of a recurrent cell, while acting and while learning."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from rldebug.evidence.script import Audit, Event, Script
from rldebug.rule import NotEnough
from rldebug.rules.buffer.memory_unlike_acting import MemoryUnlikeActing
from tests.programs.made import nodes

Array = NDArray[np.float64]
STEPS, LONG = 96, 8  # an episode is 12 steps long, a sequence 8


def event(order: int, rows: NDArray[np.int64], state: Array, number: int, *, acting: bool) -> Event:
    detail = {"module": "cell", "acting": acting, "grad": not acting, "match": "raw", "line": ["train.py", 3]}
    arrays = {
        "rows": rows,
        "input1": state[rows],
        "updates": np.full(len(rows), number),
        "orders": order + (np.arange(len(rows)) if acting else np.arange(len(rows)) % LONG),
    }
    return Event(order, "call", number, 0, detail, arrays)


def made(learned: Callable[[Array], Array]) -> Script:
    audits = []
    for number in range(3):
        rows = np.arange(STEPS)
        state = np.random.default_rng(number).normal(size=(STEPS, 6))
        state[rows % 12 == 0] = 0.0
        of = nodes(rows[:, None] + 0.5, phase=number)
        of = replace(of, first=rows % 12 == 0, terminated=rows % 12 == 11)
        events = [event(0, rows, state, number, acting=True), event(500, rows, learned(state), number, acting=False)]
        audits.append(Audit(number, number, number, 0, of, tuple(events)))
    return Script(audits)


def found(learned: Callable[[Array], Array]) -> list[str]:
    return [each.seen for each in MemoryUnlikeActing().check(made(learned))]


def changed(state: Array, rows: NDArray[np.bool_], to: Array | float) -> Array:
    return np.where(rows[:, None], to, state)


rows = np.arange(STEPS)
starts, begins, ends = rows % LONG == 0, rows % 12 == 0, rows % 12 == 11


def test_fires_a_state_that_is_emptied_too_early_is_found() -> None:
    assert "last step" in found(lambda state: changed(state, ends, 0.0))[0]


def test_fires_a_state_that_goes_on_is_found() -> None:
    assert "begins" in found(lambda state: changed(state, begins, 1.0))[0]


def test_fires_the_state_of_another_row_is_found() -> None:
    assert "another row" in found(lambda state: changed(state, starts, np.roll(state, 5, axis=0)))[0]


def test_quiet_the_same_state_is_fine() -> None:
    assert found(lambda state: state) == []


def test_quiet_sequences_that_begin_empty_are_accepted() -> None:
    assert found(lambda state: changed(state, starts, 0.0)) == []


def test_quiet_without_a_state_nothing_is_said() -> None:
    with pytest.raises(NotEnough):
        list(MemoryUnlikeActing().check(Script()))
