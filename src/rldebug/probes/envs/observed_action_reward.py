"""One step; the right action depends on what is seen."""

from __future__ import annotations

from typing import Any

from rldebug.probes.probe import Probe


class ObservedActionReward(Probe):
    """One step, and the right action depends on what is seen.

    ## What it asks
    Two states, two actions: the second action is right in the second state, the first in the first.

    ## What failing means
    The policy learns, but not from what it sees, or rows of observations, actions and advantages are not of one step.
    """

    name = "observed-action-reward"
    rung = 5
    after = "action-reward"
    asks = "policy"
    states = ("left", "right")
    starts = {"left": 0.5, "right": 0.5}  # noqa: RUF012 - never written to

    def step(self, state: str, action: Any) -> tuple[None, float]:
        return None, 1.0 if action == self.states.index(state) else -1.0
