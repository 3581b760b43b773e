"""Steps of an evaluation in which no network was asked."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.programs.made import nodes

from rldebug.evidence.script import Audit, Event, Script
from rldebug.forensics import unasked as module
from rldebug.forensics.batches import calls_of
from rldebug.forensics.unasked import unasked

STEPS = 120


def played(asked: np.ndarray) -> Script:
    """One stream, episodes of 40 steps; a network is called where `asked`."""
    of: Any = nodes(np.arange(STEPS, dtype=np.float64)[:, None] + 0.5)
    first = np.arange(STEPS) % 40 == 0
    of = replace(of, call=np.arange(STEPS), first=first, acted=np.ones(STEPS, dtype=bool))
    rows = np.flatnonzero(asked)
    arrays = {"rows": of.id[rows], "orders": np.arange(len(rows)), "updates": np.full(len(rows), 9), "at": rows + 500}
    call = Event(0, "call", 9, 0, {"module": "q", "acting": True, "match": "raw", "grad": False}, arrays)
    return Script([Audit(0, 0, 9, 0, of, (call,))], {"stream": {"0": {"index": 0, "lanes": 1, "steps": STEPS}}})


@pytest.fixture(autouse=True)
def evaluated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "evaluation_streams", lambda script: frozenset({0}))
    monkeypatch.setattr(module, "evaluation_calls", calls_of)


def test_steps_that_are_drawn_are_counted() -> None:
    found = unasked(played(np.random.default_rng(0).random(STEPS) < 0.6))
    assert found is not None
    assert 30 < found.unasked < 60


def test_actions_that_are_repeated_are_not_drawn() -> None:
    assert unasked(played(np.arange(STEPS) % 4 == 0)) is None


def test_nothing_is_missing_where_it_is_always_asked() -> None:
    assert unasked(played(np.ones(STEPS, dtype=bool))) is None
