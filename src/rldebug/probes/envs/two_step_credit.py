"""Two steps; the first action decides what the second pays."""

from __future__ import annotations

from typing import Any

from rldebug.probes.probe import Probe


class TwoStepCredit(Probe):
    """Two steps, and the first action decides what the second pays.

    ## What it asks
    At a fork nothing is paid. The second action leads to a place that pays 1 whatever is done there, the first to one
    that pays −1. The policy must come to prefer the second.

    ## What failing means
    Actions are credited with the reward of their own step alone: the advantage leaves out what comes after, is of the
    step before or after, or sees an end where there is none.
    """

    name = "two-step-credit"
    rung = 6
    after = "observed-action-reward"
    asks = "policy"
    states = ("fork", "won", "lost")

    def step(self, state: str, action: Any) -> tuple[str | None, float]:
        if state == "fork":
            return ("won" if action == 1 else "lost"), 0.0
        return None, 1.0 if state == "won" else -1.0
