"""Formulas of targets, from what was found of rows that cannot be traced."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from rldebug.forensics.target_formula import of_free
from rldebug.forensics.target_free import _fit, _often

VALUES = np.array([-1.0, 0.0])  # -1 for each step, 0 for the last


def endings(*, masked: bool, bound: float | None):
    draw = np.random.default_rng(0)
    f = draw.uniform(-3.0, 1.0, 400)
    reward = np.where(draw.random(400) < 0.25, 0.0, -1.0)
    target = reward + 0.9 * np.where(masked & (reward == 0.0), 0.0, f)
    target = target if bound is None else np.minimum(target, bound)
    audit = np.arange(400) // 100
    found = _fit("max of lagged", target, f, VALUES, audit, 1e-6, {-1.0: 0.0, 0.0: 1.0}, 0.25)
    assert found is not None
    return [(each.kind, each.way) for each in of_free(found).endings]


def test_bound_on_targets_looks_like_a_mask_and_is_none():
    assert endings(masked=False, bound=0.0) == [("terminated", "follows")]


def test_mask_is_one_with_a_bound_or_without():
    assert endings(masked=True, bound=0.0) == [("terminated", "zero")]
    assert endings(masked=True, bound=None) == [("terminated", "zero")]
    assert endings(masked=False, bound=None) == [("terminated", "follows")]


def test_ends_that_nobody_had_seen_yet_are_missed_in_no_batch():
    ends = np.arange(1000) >= 900  # by then the agent knows how to get there
    world = SimpleNamespace(id=np.arange(1000), usable=np.ones(1000, bool), terminated=ends)
    audits = {
        number: SimpleNamespace(nodes=SimpleNamespace(id=np.arange(last))) for number, last in ((0, 300), (1, 950))
    }
    assert _often(world, audits, np.zeros(64)) == 0.0
    assert _often(world, audits, np.ones(64)) == 50 / 950
