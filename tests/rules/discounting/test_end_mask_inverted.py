"""The next value where episodes end, and only there."""

from __future__ import annotations

from typing import Any

import numpy as np

from rldebug.rules.discounting.end_mask_inverted import EndMaskInverted
from tests.forensics.simulated import Array, Rollout
from tests.programs.formulas import found, q_target, replay


def test_a_mask_turned_round_is_found() -> None:
    def inverted(of: Rollout, picked: Any, said: dict[str, Array]) -> Array:
        return np.asarray(of.reward[picked, 0] + 0.97 * of.terminated[picked, 0] * said["q0"].max(axis=1))

    assert len(found(EndMaskInverted(), replay(inverted))) == 1


def test_the_right_mask_is_fine() -> None:
    assert found(EndMaskInverted(), replay(q_target)) == []
