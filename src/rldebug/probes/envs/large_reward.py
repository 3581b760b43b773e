"""Like observed-action-reward, with large rewards."""

from __future__ import annotations

from typing import Any

from rldebug.probes.probe import Probe


class LargeReward(Probe):
    """The right action depends on what is seen, and pays 1000.

    ## What it asks
    Two states, two actions: the right one pays 1000, the wrong one −1000. All else is as with ±1.

    ## What failing means
    Where gradients are cut to a length, or values and policy share a loss, the value's errors of a thousand drown the
    policy's: advantages or rewards are not normalised, or normalised wrongly.
    """

    name = "large-reward"
    rung = 14
    after = "observed-action-reward"
    asks = "policy"
    by_order = True
    states = ("left", "right")
    starts = {"left": 0.5, "right": 0.5}  # noqa: RUF012 - never written to
    patience = 1.5

    def step(self, state: str, action: Any) -> tuple[None, float]:
        return None, 1000.0 if action == self.states.index(state) else -1000.0
