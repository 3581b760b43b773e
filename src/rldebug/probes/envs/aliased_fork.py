"""A fork whose middle looks the same on both ways: what is believed of the first step tells λ."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rldebug.probes.probe import Array, Probe


class AliasedFork(Probe):
    """Two ways that look the same in the middle: the value of the first step tells λ.

    ## What it asks
    From `upper` the way leads through a middle to a reward of 1, from `lower` through a middle that looks the same to
    nothing. The middle is worth ½. One who trusts the critic alone (λ = 0, or one step) finds both beginnings worth
    ½ γ; one who trusts the sampled return (λ = 1) finds them worth γ and 0; and those in between tell their λ.

    ## What failing means
    Advantages or targets mix steps and critic otherwise than the settings say.
    """

    name = "aliased-fork"
    rung = 11
    after = "discount-chain"
    states = ("upper", "lower", "middle above", "middle below")
    # Some begin in the middle: were all episodes two steps long, rollouts of an even length would never cut one.
    starts = {"upper": 0.4, "lower": 0.4, "middle above": 0.1, "middle below": 0.1}  # noqa: RUF012 - never written to

    def step(self, state: str, action: Any) -> tuple[str | None, float]:
        if state in ("upper", "lower"):
            return ("middle above" if state == "upper" else "middle below"), 0.0
        return None, 1.0 if state == "middle above" else 0.0

    def look(self, state: str) -> str:
        return "middle" if state.startswith("middle") else state

    def right(self, declared: Mapping[str, Any]) -> Array | None:
        lam = declared.get("lam")
        if declared.get("n_step") is not None:
            lam = 1.0 if declared["n_step"] > 1 else 0.0
        if lam is None:
            return None
        if declared.get("rollout"):  # where a rollout ends between the two steps, the critic stands for the second
            lam = lam * (1.0 - 1.0 / declared["rollout"])
        return self.with_trust(lam, self.gamma)

    def with_trust(self, lam: float, gamma: float) -> Array:
        """Values of the looks, for an algorithm that uses this λ."""
        return np.array([gamma * (0.5 + 0.5 * lam), gamma * (0.5 - 0.5 * lam), 0.5])

    def wrong_answers(self, gamma: float | None = None) -> dict[str, Array]:
        gamma = self.gamma if gamma is None else gamma
        return {"critic-alone": self.with_trust(0.0, gamma), "returns-alone": self.with_trust(1.0, gamma)}

    def trust(self, value: Array, gamma: float) -> float:
        """The λ that these values tell."""
        return float((value[0] - value[1]) / gamma)
