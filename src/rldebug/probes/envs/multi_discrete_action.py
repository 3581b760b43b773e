"""One step; an action is two choices at once, and both must be right."""

from __future__ import annotations

from typing import Any

from rldebug.probes.probe import Probe

RIGHT = {"first": 2, "second": 3, "third": 1}  # as pairs: (0, 2), (1, 0), (0, 1)


class MultiDiscreteAction(Probe):
    """One step, an action of two choices at once: both must be right.

    ## What it asks
    Three states; an action is one of two and one of three. Which pair pays depends on the state; a pair of which one
    half is right pays half.

    ## What failing means
    Probabilities of the parts are not multiplied (their logarithms summed over the wrong axis), only one part is
    learned, or parts are read in the wrong order.
    """

    name = "multi-discrete-action"
    rung = 22
    after = "observed-action-reward"
    asks = "policy"
    states = tuple(RIGHT)
    starts = dict.fromkeys(RIGHT, 1 / 3)
    actions = 6
    action = "multi-discrete"

    def step(self, state: str, action: Any) -> tuple[None, float]:
        (half, third), (right_half, right_third) = divmod(int(action), 3), divmod(RIGHT[state], 3)
        return None, (half == right_half) + (third == right_third) - 1.0
