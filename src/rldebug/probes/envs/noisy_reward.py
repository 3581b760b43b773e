"""One step; what it pays is left to chance."""

from __future__ import annotations

from typing import Any

import numpy as np

from rldebug.probes.probe import Array, Outcome, Probe


class NoisyReward(Probe):
    """One step, and what it pays is left to chance: worth the mean, 1.

    ## What it asks
    The reward is 1.6 in two of five cases and 0.6 in three. The value must become their mean. Both lie within 1 of it,
    where a Huber loss is still a squared one.

    ## What failing means
    Something else than the mean is learned: the median (an absolute loss), the last sample (a step size too large), the
    largest (targets that are only ever raised), or some rewards count more than others (priorities without weights).
    """

    name = "noisy-reward"
    rung = 12
    after = "observed-reward"
    patience = 1.5

    def step(self, state: str, action: Any) -> tuple[Outcome, ...]:
        return Outcome(0.4, None, 1.6), Outcome(0.6, None, 0.6)

    def wrong_answers(self, gamma: float | None = None) -> dict[str, Array]:
        return super().wrong_answers(gamma) | {"median": np.array([0.6]), "largest": np.array([1.6])}
