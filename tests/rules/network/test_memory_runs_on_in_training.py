"""A memory that is emptied to act, and never in training."""

from __future__ import annotations

import numpy as np
import pytest

from rldebug.rule import NotEnough
from rldebug.rules.network.memory_runs_on_in_training import MemoryRunsOnInTraining
from tests.rules.buffer.test_memory_unlike_acting import Array, begins, changed, ends, made, rows, starts


def found(learned) -> list[str]:
    return [each.seen for each in MemoryRunsOnInTraining().check(made(learned))]


def on(state: Array) -> Array:
    return changed(state, begins & ~starts, 1.0)


def test_fires_where_no_state_of_a_sequence_is_empty() -> None:
    assert "no empty state" in found(on)[0]


def test_quiet_where_both_are_emptied() -> None:
    assert found(lambda state: state) == []


def test_quiet_where_the_flag_is_a_step_late() -> None:
    assert found(lambda state: changed(on(state), np.roll(begins, 1) & ~starts, 0.0)) == []


def test_quiet_where_the_flag_is_a_step_early() -> None:
    assert found(lambda state: changed(on(state), ends & ~starts, 0.0)) == []


def test_quiet_where_sequences_begin_with_other_states() -> None:
    assert found(lambda state: changed(on(state), starts, np.roll(state, 5, axis=0))) == []


def test_declines_without_a_beginning_amid_a_sequence() -> None:
    with pytest.raises(NotEnough):
        found(lambda state: changed(state, rows >= 0, np.nan))
