"""One step; the colour of the picture tells the right action."""

from __future__ import annotations

from typing import Any

from rldebug.probes.probe import Probe


class ChannelOrder(Probe):
    """One step, and the colour of a picture tells the right action.

    ## What it asks
    A black picture with a red, green or blue square, with the channels last. The second action is right where it is
    green, the first elsewhere.

    ## What failing means
    Channels are dropped, averaged to grey, or taken for rows: pictures come with the channels last, most networks want
    them first.
    """

    name = "channel-order"
    rung = 26
    after = "bright-pixel"
    asks = "policy"
    states = ("red", "green", "blue")
    starts = {"red": 0.25, "green": 0.5, "blue": 0.25}  # noqa: RUF012 - never written to
    obs = "colour"
    patience = 1.5

    def step(self, state: str, action: Any) -> tuple[None, float]:
        return None, 1.0 if action == (state == "green") else -1.0
