"""Rewards that are the same in all steps but the last of an episode: scaled, or cut off at one?"""

from __future__ import annotations

import numpy as np
import pytest

from rldebug.forensics.robust_fit import robust
from rldebug.forensics.target_q import _scaled_rather
from rldebug.forensics.target_tried import as_tried

ENDED = np.arange(60) >= 48
PAID = np.where(ENDED, -(np.arange(60) % 4.0), -4.0)  # four steps of the simulator each, fewer where it ended
BOOT = np.linspace(-6.0, 3.0, 60)
TOL = 1e-5


def explained(in_target):
    target = in_target + np.where(ENDED, 0.0, 0.9 * BOOT)
    y = target[~ENDED] + 1.0
    best = as_tried("max", "clip", robust(y, [BOOT[~ENDED]], TOL), ~ENDED, None)
    assert best.fit.share == 1.0, "within episodes it cannot be told"
    return _scaled_rather(best, target, PAID, ~ENDED, {"max": BOOT}, ENDED, TOL)


def test_the_last_steps_tell_a_reward_that_is_scaled():
    best = explained(PAID / 4.0)
    assert (best.changed, best.reward) == ("", pytest.approx(0.25))


def test_the_last_steps_tell_a_reward_that_is_cut_off():
    best = explained(np.clip(PAID, -1.0, 1.0))
    assert (best.changed, best.reward) == ("clip", 1.0)
