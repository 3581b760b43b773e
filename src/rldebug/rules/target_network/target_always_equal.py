"""The target network is the online network."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from rldebug.evidence.run import Run
from rldebug.evidence.together import together
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class TargetAlwaysEqual(Rule):
    """The target network always equals the online network.

    ## What it checks
    The distance between the two is exactly 0 at every reading, over many updates that do change the online network.

    ## Why it matters
    A target network is there to hold still. If it moves with every step, targets chase the predictions that are fitted
    to them, and values can run away.

    ## Likely causes
    1. Both names stand for one object. Confirm: `target is online`, or equal `data_ptr()` of their parameters.
    2. The weights are copied on every update. Confirm: print in that branch; an interval of 1, or a soft update with a
       weight of 1.
    3. The state dict is shared, not copied. Confirm: `copy.deepcopy(online)`.

    ## What to try first
    `assert target is not online`, and print how often the weights are copied.

    ## When it is fine
    Methods that mean to go without: then do not pass `target=`.

    ## References
    Mnih et al. 2015, *Human-level control through deep reinforcement learning*. datawhalechina/easy-rl issue 140.
    """

    code: ClassVar[str] = "TGT002"
    name: ClassVar[str] = "target-always-equal"
    severity: ClassVar[Severity] = "warning"
    aim: ClassVar[str] = "copies"
    needs: ClassVar[tuple[str, ...]] = ("target_net/distance", "target_net/fingerprint")

    updates: int = 50  # learner steps
    readings: int = 20  # fewer may all follow a copy

    def check(self, evidence: Run) -> Iterator[Finding]:
        distance, mark = together(evidence, "target_net/distance", "target_net/fingerprint")
        if evidence.updates < self.updates or len(distance) < self.readings:
            raise NotEnough(
                f"{len(distance)} readings over {evidence.updates} updates, needs {self.readings} over {self.updates}"
            )
        # If neither of two equal networks ever moves, it is the optimizer that has a problem.
        if distance.max() > 0 or np.ptp(mark.value) == 0:
            return
        moved = len(np.unique(mark.value))
        yield self.finding(
            "the target network equals the online network at every update",
            where=replace(evidence.call("update"), update=int(distance.update[0]), env_step=int(distance.env_step[0])),
            seen=f"distance 0 at all {len(distance)} readings over {evidence.updates} updates, while the weights took "
            f"{moved} different norms",
            expected="a distance above 0 between two updates of the target",
            help="make the target a copy.deepcopy of the online network, and copy the weights at intervals only",
            confidence=0.97,
        )
