"""Episodes of one step, of two kinds in turn: what the second pays must not reach the first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rldebug.probes.probe import Array, Probe


class LeakingReturn(Probe):
    """Episodes of two kinds in turn: the pay of one must not reach the other.

    ## What it asks
    Every second episode is one step from `x+` or `x-`, and pays nothing. The one after it is one step from `y`, and
    pays 2 after `x+`, 0 after `x-`, which cannot be seen. `x+` and `x-` are worth 0, `y` is worth 1.

    ## What failing means
    Sums of rewards run on over the end of an episode: the value of `x+` is then about γλ, that of `x-` −γλ. Returns, or
    the recursion of GAE, or n-step sums are not cut where an episode ends.
    """

    name = "leaking-return"
    rung = 7
    after = "delayed-reward"
    states = ("x+", "x-", "y+", "y-")
    scale = 2.0  # from what is paid at worst to what is paid at best
    patience = 1.5

    def step(self, state: str, action: Any) -> tuple[None, float]:
        return None, {"y+": 2.0}.get(state, 0.0)

    def look(self, state: str) -> str:
        return "y" if state in ("y+", "y-") else state

    def restart(self, last: str) -> Mapping[str, float]:
        return {"x+": {"y+": 1.0}, "x-": {"y-": 1.0}}.get(last, {"x+": 0.5, "x-": 0.5})

    def wrong_answers(self, gamma: float | None = None) -> dict[str, Array]:
        """Only the leak, in full: with a λ below 1 a little less of it arrives."""
        gamma = self.gamma if gamma is None else gamma
        return {"return-leaks": np.array([gamma, -gamma, 1.0])}
