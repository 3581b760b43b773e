"""One step; the brightness of the picture tells the right action."""

from __future__ import annotations

from typing import Any

from rldebug.probes.probe import Probe


class Uint8Range(Probe):
    """One step, and how bright a picture is tells the right action.

    ## What it asks
    A picture with a grey square, in bytes: 60 or 255, beside one that is always 160. The first action is right where it
    is the darker of the two, the second where it is the brighter.

    ## What failing means
    Bytes are not brought to a range of about 1, or are so twice (all pictures are then black), or are computed with as
    bytes, where 200 + 100 is 44; or all that is not black is taken for white.
    """

    name = "uint8-range"
    rung = 27
    after = "bright-pixel"
    asks = "policy"
    states = ("dim", "bright")
    starts = dict.fromkeys(states, 0.5)
    obs = "brightness"
    patience = 1.5

    def step(self, state: str, action: Any) -> tuple[None, float]:
        return None, 1.0 if action == self.states.index(state) else -1.0
