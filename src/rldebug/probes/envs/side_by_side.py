"""Environments side by side, each with a state and a reward of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rldebug.probes.probe import Array, Probe

PAYS = {"first": 1.0, "second": -1.0, "third": 0.3, "fourth": -0.3}


class SideBySide(Probe):
    """Environments side by side must not be mixed up: each pays its own.

    ## What it asks
    Each of the environments side by side stays in a state of its own, which pays (1 − γ) times 1, −1, 0.3 or −0.3 at
    every step, and is worth that number. One environment alone shows one of them, and only that one is asked for.

    ## What failing means
    Rows of different environments are mixed up: what an episode goes on with, after the last step of a rollout or where
    time ran out, is the value of a neighbour; or an array is reshaped where it should be transposed.
    """

    name = "side-by-side"
    rung = 33
    after = "truncated-episode"
    states = tuple(PAYS)
    starts = dict.fromkeys(PAYS, 0.25)
    time_limit = 20
    patience = 2.0

    def step(self, state: str, action: Any) -> tuple[str, float]:
        return state, (1.0 - self.gamma) * PAYS[state]

    def restart_in(self, env_index: int, last: str) -> Mapping[str, float]:
        return {self.states[env_index % len(self.states)]: 1.0}

    def right(self, declared: Mapping[str, Any]) -> Array | None:
        return None if self.gamma == 1.0 else super().right(declared)  # a loop without end has no value then
