"""A chain with a reward at its end: values along it tell γ."""

from __future__ import annotations

from typing import Any

import numpy as np

from rldebug.probes.probe import Array, Probe


class DiscountChain(Probe):
    """A chain with a reward of 1 at its end: the values along it tell γ.

    ## What it asks
    Fifteen states in a row. The last is worth 1, the one before γ, then γ², and so on: the γ in use is read off.

    ## What failing means
    Rewards are carried back, but with another discount than the settings say: γ applied twice, or per update, or not.
    """

    name = "discount-chain"
    rung = 10
    after = "delayed-reward"
    states = tuple(f"{14 - i} to go" for i in range(15))
    patience = 2.0

    def step(self, state: str, action: Any) -> tuple[str | None, float]:
        at = self.states.index(state)
        return (None, 1.0) if at == len(self.states) - 1 else (self.states[at + 1], 0.0)

    def effective_gamma(self, value: Array) -> float:
        """The discount these values tell: the slope of their logarithm, from the end backward."""
        back = np.arange(len(value))[::-1]
        seen = value > 0.05
        if seen.sum() < 3:
            return float("nan")
        return float(np.exp(np.polyfit(back[seen], np.log(value[seen]), 1)[0]))
