"""One step; where the picture is bright tells the right action."""

from __future__ import annotations

from typing import Any

from rldebug.probes.probe import Probe


class BrightPixel(Probe):
    """One step, and where a picture is bright tells the right action.

    ## What it asks
    A black picture with one bright quarter. The second action is right where it is the upper left or the lower right.

    ## What failing means
    Pictures are cut, pooled or averaged until it is lost where something is, or are not what they were when they come
    out of the buffer.
    """

    name = "bright-pixel"
    rung = 25
    after = "observed-action-reward"
    asks = "policy"
    states = ("upper left", "upper right", "lower left", "lower right")
    starts = dict.fromkeys(states, 0.25)
    obs = "image"
    patience = 1.5

    def step(self, state: str, action: Any) -> tuple[None, float]:
        right = 1 if state in ("upper left", "lower right") else 0
        return None, 1.0 if action == right else -1.0
