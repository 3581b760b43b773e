"""Two steps, a reward at the end: the first state is worth γ."""

from __future__ import annotations

from typing import Any

from rldebug.probes.probe import Probe


class DelayedReward(Probe):
    """Two steps, a reward of 1 at the end: the first state is worth γ.

    ## What it asks
    The two steps look different, else no value would be right for both. The second state must be worth 1, the first γ.

    ## What failing means
    Rewards are learned, but are not carried back in time: discounting, bootstrapping, the target network.
    """

    name = "delayed-reward"
    rung = 3
    after = "observed-reward"
    states = ("first", "second")

    def step(self, state: str, action: Any) -> tuple[str | None, float]:
        return ("second", 0.0) if state == "first" else (None, 1.0)
