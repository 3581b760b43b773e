"""One step; what is seen comes as a dict, of which both parts are needed."""

from __future__ import annotations

from typing import Any

from rldebug.probes.probe import Probe


class DictObservation(Probe):
    """What is seen is a dict of two parts, and both are needed.

    ## What it asks
    Each part is off or on. The second action is right where both are on, as in half of the episodes; the first
    elsewhere.

    ## What failing means
    A part of the observation is dropped, taken for the other, or mixed up on its way through buffers and batches.
    """

    name = "dict-observation"
    rung = 23
    after = "observed-action-reward"
    asks = "policy"
    states = ("both off", "near on", "far on", "both on")
    starts = {"both off": 1 / 6, "near on": 1 / 6, "far on": 1 / 6, "both on": 0.5}  # noqa: RUF012 - never written to
    obs = "dict"
    patience = 1.5

    def step(self, state: str, action: Any) -> tuple[None, float]:
        return None, 1.0 if action == (state == "both on") else -1.0
