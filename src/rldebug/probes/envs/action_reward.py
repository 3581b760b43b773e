"""One step; what is done decides the reward."""

from __future__ import annotations

from typing import Any

from rldebug.probes.probe import Probe


class ActionReward(Probe):
    """One step, and what is done decides the reward: +1 or −1.

    ## What it asks
    One state, two actions, of which the second pays 1 and the first −1. The policy must come to prefer the second.

    ## What failing means
    Values are learned and the policy is not: the policy loss, the sign of the advantage, or the action that is stored
    is not the one that was played.
    """

    name = "action-reward"
    rung = 4
    after = None
    asks = "policy"

    def step(self, state: str, action: Any) -> tuple[None, float]:
        return None, 1.0 if action == 1 else -1.0
