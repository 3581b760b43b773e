"""The next value where episodes end, and only there."""

from __future__ import annotations

from typing import Any

import numpy as np

from rldebug.rules.discounting.end_mask_inverted import EndMaskInverted
from tests.forensics.simulated import Array, Rollout
from tests.programs.formula_learners import replays
from tests.programs.formulas import found, q_target, replay
from tests.watched import findings


def test_fires_a_mask_turned_round_is_found() -> None:
    def inverted(of: Rollout, picked: Any, said: dict[str, Array]) -> Array:
        return np.asarray(of.reward[picked, 0] + 0.97 * of.terminated[picked, 0] * said["q0"].max(axis=1))

    assert len(found(EndMaskInverted(), replay(inverted))) == 1


def test_quiet_the_right_mask_is_fine() -> None:
    assert found(EndMaskInverted(), replay(q_target)) == []


def test_fires_in_a_program_that_was_watched() -> None:
    assert findings(
        lambda: replays(lambda of, at, said: of.reward[at, 0] + 0.97 * of.terminated[at, 0] * said["q0"].max(axis=1)),
        "DIS302",
    )


def test_quiet_in_a_program_without_the_fault() -> None:
    assert findings(replays, "DIS302") == []
