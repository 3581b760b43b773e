"""One step; once the right action is learned, it is the wrong one."""

from __future__ import annotations

from typing import Any

from rldebug.probes.probe import Probe


class ShiftingReward(Probe):
    """One step, and once the right action is learned, it is the wrong one.

    ## What it asks
    Two actions, of which the second pays 1 and the first −1, until that is learned. Then they change places, and the
    policy must change its mind.

    ## What failing means
    The algorithm cannot forget: old rewards are never replaced in its replay buffer, exploration or the learning rate
    has come to an end, or the policy has become so sure that it never tries again.
    """

    name = "shifting-reward"
    rung = 32
    after = "action-reward"
    asks = "policy"
    patience = 2.0
    phases = 2

    def step(self, state: str, action: Any) -> tuple[None, float]:
        return None, 1.0 if action == 1 - self.phase else -1.0
