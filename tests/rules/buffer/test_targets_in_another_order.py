"""Targets in the rows of others."""

from __future__ import annotations

import numpy as np

from rldebug.rules.buffer.targets_in_another_order import TargetsInAnotherOrder
from tests.forensics.simulated import Array, Rollout, gae
from tests.programs.formulas import found, on_policy


def swapped(of: Rollout) -> Array:
    made = gae(of)
    return np.asarray(made.T.reshape(made.shape))


def test_swapped_axes_are_found() -> None:
    (finding,) = found(TargetsInAnotherOrder(), on_policy(swapped))
    assert "swapped" in finding.seen


def test_targets_never_reversed_are_found() -> None:
    (finding,) = found(TargetsInAnotherOrder(), on_policy(lambda of: gae(of)[::-1]))
    assert "turned round" in finding.seen


def test_targets_in_their_rows_are_fine() -> None:
    assert found(TargetsInAnotherOrder(), on_policy(gae)) == []
