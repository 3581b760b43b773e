"""One step; the best action is a number within the range."""

from __future__ import annotations

from typing import Any

from rldebug.probes.probe import Probe


class InteriorOptimum(Probe):
    """One step, and the best action is a number: 0.8 of −2 to 2.

    ## What it asks
    The reward falls with the distance from 0.8. The policy's mean must come near it.

    ## What failing means
    Choices are learned, and numbers are not: the log-probability of a Gaussian, its deviation, or the action that is
    stored is not the one whose probability is computed (clipped, rescaled).
    """

    name = "interior-optimum"
    rung = 18
    after = None
    asks = "policy"
    range = (-2.0, 2.0)
    patience = 2.0

    def step(self, state: str, action: Any) -> tuple[None, float]:
        return None, 1.0 - abs(action - 0.8) / 2.0
