"""One step; what is seen tells the reward."""

from __future__ import annotations

from typing import Any

from rldebug.probes.probe import Probe


class ObservedReward(Probe):
    """One step, and what is seen tells the reward: +1 or −1.

    ## What it asks
    Two states, one step, a reward of 1 in one and −1 in the other. The value must tell them apart.

    ## What failing means
    The critic can learn a number, but not a function of what it sees: observations are lost on their way
    (preprocessing, the first layer), or rows of values and targets are paired wrongly (a loss that broadcasts).
    """

    name = "observed-reward"
    rung = 2
    after = "constant-reward"
    states = ("good", "bad")
    starts = {"good": 0.5, "bad": 0.5}  # noqa: RUF012 - never written to

    def step(self, state: str, action: Any) -> tuple[None, float]:
        return None, 1.0 if state == "good" else -1.0
