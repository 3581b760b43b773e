"""A chain that pays at its end alone, with a bait on every step."""

from __future__ import annotations

from typing import Any

from rldebug.probes.probe import Probe

BAIT = 0.1


class SparseChain(Probe):
    """Five steps in a row must be right before anything much is paid.

    ## What it asks
    The second action leads on, and after five of them pays 1; the first pays 0.1 at once, and ends the episode. The
    policy must lead on everywhere.

    ## What failing means
    Exploration ends too early, or is none: the algorithm takes the bait, since it never, or hardly ever, sees the end.
    """

    name = "sparse-chain"
    rung = 31
    after = "two-step-credit"
    asks = "policy"
    explores = True
    states = tuple(f"{i} done" for i in range(5))
    patience = 2.0

    def step(self, state: str, action: Any) -> tuple[str | None, float]:
        if action == 0:
            return None, BAIT
        at = self.states.index(state)
        return (None, 1.0) if at == len(self.states) - 1 else (self.states[at + 1], 0.0)
