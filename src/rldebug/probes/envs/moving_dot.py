"""Which way a dot moves: one frame does not tell."""

from __future__ import annotations

from typing import Any

from rldebug.probes.probe import Probe

PLACES = 3


class MovingDot(Probe):
    """A dot moves one way or the other: only two frames tell which.

    ## What it asks
    A dot is in one of three places, and goes on to the next or the one before. In the second step the action must say
    which. A single frame tells nothing: from all places it goes either way. The algorithm stacks two frames.

    ## What failing means
    Frames are not stacked, in the wrong order, over the end of an episode, or a frame that was overwritten is stacked
    with itself.
    """

    name = "moving-dot"
    rung = 28
    after = "bright-pixel"
    asks = "return"
    states = tuple(f"{when} {way} {i}" for when in ("first", "second") for way in ("on", "back") for i in range(PLACES))
    starts = {f"first {way} {i}": 1 / (2 * PLACES) for way in ("on", "back") for i in range(PLACES)}  # noqa: RUF012
    obs = "dot"
    wants = ("frames",)
    patience = 3.0

    def step(self, state: str, action: Any) -> tuple[str | None, float]:
        when, way, place = state.split()
        if when == "first":
            return f"second {way} {(int(place) + (1 if way == 'on' else -1)) % PLACES}", 0.0
        return None, 1.0 if action == (way == "on") else -1.0

    def look(self, state: str) -> str:
        return state.split()[2]

    def returns(self) -> tuple[float, float]:
        return 0.0, 1.0  # of one who sees both frames, not of one who sees a look
