"""One step; the best action is the largest, of a range that is not symmetrical."""

from __future__ import annotations

from typing import Any

from rldebug.probes.probe import Probe


class BoundOptimum(Probe):
    """One step, and the best action is the upper bound: 3 of −1 to 3.

    ## What it asks
    The reward grows with the action up to the bound. The range is lopsided: who takes it for −1 to 1 stops early.

    ## What failing means
    Actions do not reach the bound: they are squashed and not stretched to the range, clipped to the wrong bounds, or
    the policy is pushed back where clipping hides that larger ones pay no more.
    """

    name = "bound-optimum"
    rung = 19
    after = "interior-optimum"
    asks = "policy"
    range = (-1.0, 3.0)
    patience = 2.0

    def step(self, state: str, action: Any) -> tuple[None, float]:
        return None, (action + 1.0) / 4.0
