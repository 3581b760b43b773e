"""The state that episodes begin with."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from rldebug.evidence.script import Audit, Event, Script
from rldebug.rule import NotEnough
from rldebug.rules.buffer.memory_never_emptied import MemoryNeverEmptied
from tests.programs.made import nodes

STEPS = 96  # an episode is 12 steps long


def made(begun: NDArray[np.float64] | None, *, beside: int = 6, flag: bool = False) -> Script:
    """Acting on eight episodes in each audit. `begun`: the state that they begin with; None: that of the one before."""
    audits = []
    rows = np.arange(STEPS)
    for number in range(3):
        first = rows % 12 == 0
        state = np.random.default_rng(number).normal(size=(STEPS, 6)).astype(np.float32)
        if begun is not None:
            state[first] = begun
        given = np.stack([rows + 0.5, first if flag else rows * 0.1], axis=1).astype(np.float32)
        of = replace(nodes(given, phase=number), first=first, terminated=rows % 12 == 11)
        inputs = [{"shape": [1, 2]}, {"shape": [1, 6]}, {"shape": [1, beside]}]
        detail = {"module": "net", "acting": True, "grad": False, "inputs": inputs, "line": ["train.py", 3]}
        arrays = {"rows": rows, "input": given, "input1": state}
        audits.append(Audit(number, number, number, 0, of, (Event(0, "call", number, 0, detail, arrays),)))
    return Script(audits, {"module": {"net": {"layers": {"LSTMCell": 1, "Linear": 2}}}})


def found(script: Script) -> list[str]:
    return [each.seen for each in MemoryNeverEmptied().check(script)]


def test_fires_where_the_state_of_the_last_episode_goes_on() -> None:
    assert "of 24 episodes" in found(made(None))[0] or "of 21 episodes" in found(made(None))[0]


def test_quiet_where_episodes_begin_empty() -> None:
    assert not found(made(np.zeros(6)))


def test_quiet_where_the_first_state_is_learned() -> None:
    assert not found(made(np.linspace(0.1, 0.6, 6)))


@pytest.mark.parametrize("script", [made(None, beside=1), made(None, flag=True), Script()])
def test_quiet_where_the_network_may_forget_by_itself(script: Script) -> None:
    with pytest.raises(NotEnough):
        found(script)
