"""An episode that is cut off, and would have gone on for ever."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rldebug.probes.probe import Array, Probe


class TruncatedEpisode(Probe):
    """The same reward for ever, cut off after five steps: worth r / (1 − γ).

    ## What it asks
    One state that leads to itself and pays 1 − γ at every step, so that it is worth 1. After five steps the episode is
    truncated, not terminated: the value must not notice.

    ## What failing means
    Running out of time is taken for an end: the value is that of five steps.
    """

    name = "truncated-episode"
    rung = 8
    after = "delayed-reward"
    time_limit = 5
    patience = 2.0

    def step(self, state: str, action: Any) -> tuple[str, float]:
        return "here", 1.0 - self.gamma

    def right(self, declared: Mapping[str, Any]) -> Array | None:
        return None if self.gamma == 1.0 else super().right(declared)  # a loop without end has no value then
