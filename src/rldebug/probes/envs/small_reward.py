"""Like observed-action-reward, with tiny rewards."""

from __future__ import annotations

from typing import Any

from rldebug.probes.probe import Probe


class SmallReward(Probe):
    """The right action depends on what is seen, and pays 0.001.

    ## What it asks
    Two states, two actions: the right one pays 0.001, the wrong one −0.001. All else is as with ±1.

    ## What failing means
    Advantages are not normalised and the entropy bonus outweighs them, a threshold or an epsilon
    is larger than they are, or rewards are rounded or stored as integers on their way.
    """

    name = "small-reward"
    rung = 15
    after = "observed-action-reward"
    asks = "policy"
    by_order = True
    states = ("left", "right")
    starts = {"left": 0.5, "right": 0.5}  # noqa: RUF012 - never written to
    patience = 1.5

    def step(self, state: str, action: Any) -> tuple[None, float]:
        return None, 0.001 if action == self.states.index(state) else -0.001
