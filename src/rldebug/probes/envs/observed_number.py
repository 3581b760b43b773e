"""One step; the best number depends on what is seen."""

from __future__ import annotations

from typing import Any

from rldebug.probes.probe import Probe


class ObservedNumber(Probe):
    """One step, and the best number depends on what is seen: −1.2 or 1.2.

    ## What it asks
    Two states, actions from −2 to 2. The reward falls with the distance from −1.2 in the first state, 1.2 in the other.

    ## What failing means
    Numbers are learned, but not from what is seen: the mean does not depend on the observation, or rows of observations
    and actions are not of one step.
    """

    name = "observed-number"
    rung = 21
    after = "interior-optimum"
    asks = "policy"
    states = ("low", "high")
    starts = {"low": 0.5, "high": 0.5}  # noqa: RUF012 - never written to
    range = (-2.0, 2.0)
    patience = 2.0

    def step(self, state: str, action: Any) -> tuple[None, float]:
        return None, 1.0 - abs(action - (1.2 if state == "high" else -1.2)) / 2.0
