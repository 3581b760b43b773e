"""One step; the best action lies within a range that does not lie around 0."""

from __future__ import annotations

from typing import Any

from rldebug.probes.probe import Probe


class SquashedRange(Probe):
    """One step, and the best action is 3 of 0 to 4.

    ## What it asks
    The reward falls with the distance from 3. The range does not lie around 0: actions from −1 to 1 must be moved and
    stretched, the same way when acting, when storing and when learning.

    ## What failing means
    Actions are stretched but not moved, or moved when acting and not when learning; or the probability of a squashed
    action lacks its correction (the logarithm of the determinant), which draws the policy to the bounds.
    """

    name = "squashed-range"
    rung = 20
    after = "interior-optimum"
    asks = "policy"
    range = (0.0, 4.0)
    patience = 2.0

    def step(self, state: str, action: Any) -> tuple[None, float]:
        return None, 1.0 - abs(action - 3.0) / 2.0
