"""One step, always the same reward."""

from __future__ import annotations

from typing import Any

from rldebug.probes.probe import Probe


class ConstantReward(Probe):
    """One step, always the same reward: the state is worth 1.

    ## What it asks
    One state, one step, a reward of 1 whatever is done. The value must become 1.

    ## What failing means
    The critic is not trained at all, towards something else than the reward, or an end is taken for a middle: the
    value loss, the optimizer, or what happens where an episode ends.
    """

    name = "constant-reward"
    rung = 1
    after = None

    def step(self, state: str, action: Any) -> tuple[None, float]:
        return None, 1.0
