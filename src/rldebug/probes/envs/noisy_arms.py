"""Eight actions that pay the same on average: the best of their estimates is not worth more."""

from __future__ import annotations

from typing import Any

import numpy as np

from rldebug.probes.probe import Array, Outcome, Probe


class NoisyArms(Probe):
    """Eight actions that pay 2 or 0 by chance: all are worth 1.

    ## What it asks
    A door leads to eight arms, each of which pays 2 or 0 with equal chances, and so is worth 1, and the door γ. The
    largest of eight noisy estimates is above 1, and a little of that is nobody's fault.

    ## What failing means
    The luckiest estimate is believed: values of next states are the largest of estimates that are as noisy as single
    samples, or of several critics the largest instead of the least.
    """

    name = "noisy-arms"
    rung = 13
    after = "noisy-reward"
    states = ("door", "arms")
    actions = 8
    scale = 4.0  # twice the spread of what is paid: the bias of a sound algorithm is not to be called a failure
    patience = 1.5

    def step(self, state: str, action: Any) -> tuple[str, float] | tuple[Outcome, ...]:
        if state == "door":
            return "arms", 0.0
        return Outcome(0.5, None, 2.0), Outcome(0.5, None, 0.0)

    def wrong_answers(self, gamma: float | None = None) -> dict[str, Array]:
        return {"luckiest-believed": np.array([2.0 * (self.gamma if gamma is None else gamma), 1.0])}
