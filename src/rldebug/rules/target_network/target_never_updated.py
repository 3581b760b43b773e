"""The target network stays as it was made."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from rldebug.evidence.run import Run, Series
from rldebug.evidence.together import together
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class TargetNeverUpdated(Rule):
    """The target network stays as it was made.

    ## What it checks
    The weight norm of the target network is the same number at every reading of a long run, to the last digit, while
    the network it is a copy of moves away from it.

    ## Why it matters
    All targets are one reward plus the guess of an untrained network: nothing is carried back over more than one step.

    ## Likely causes
    1. The line that copies the weights is missing, or never reached: nested under a condition that does not come true,
       such as two intervals that must coincide. Confirm: print in that branch.
    2. It copies the target onto itself, or the other way round. Confirm: `target.load_state_dict(online.state_dict())`.
    3. It updates other tensors than those in use, after a copy or a re-assignment. Confirm: `id()` of both modules in
       that branch and where targets are computed.

    ## What to try first
    Print a message where the target network is updated.

    ## When it is fine
    An interval that is longer than the run. Runs of fewer than two thousand updates are not judged.

    ## References
    Mnih et al. 2015, *Human-level control through deep reinforcement learning*. vwxyzjn/cleanrl PR 323. thesouther/MARL
    issue 8.
    """

    code: ClassVar[str] = "TGT001"
    name: ClassVar[str] = "target-never-updated"
    severity: ClassVar[Severity] = "warning"
    aim: ClassVar[str] = "copies"
    needs: ClassVar[tuple[str, ...]] = ("target_net/fingerprint", "target_net/distance")

    updates: int = 2000  # learner steps; intervals of a thousand are common
    stranger: float = 0.5  # share of the weights that a copy cannot be away at the first update
    readings: int = 20  # fewer may all lie between two updates of the target
    apart: float = 0.02  # of the online weights, by which the two must differ at the end
    growth: float = 1.5  # times the distance in the first tenth of the run

    def check(self, evidence: Run) -> Iterator[Finding]:
        mark, distance = together(evidence, "target_net/fingerprint", "target_net/distance")
        if len(mark) >= self.readings and np.ptp(mark.value) == 0 and distance.first > self.stranger:
            yield self._never_copied(evidence, mark, distance)
            return
        if evidence.updates < self.updates or len(mark) < self.readings:
            raise NotEnough(
                f"{len(mark)} readings over {evidence.updates} updates, needs {self.readings} over {self.updates}"
            )
        start, end = distance.head(0.1).median(), distance.tail(0.1).median()
        if np.ptp(mark.value) > 0 or end < self.apart or end < self.growth * start:
            return
        yield self.finding(
            "the target network is never updated",
            where=replace(evidence.call("update"), update=int(mark.update[-1]), env_step=int(mark.env_step[-1])),
            seen=f"its weight norm is {mark.first:.9g} at all {len(mark)} readings over {evidence.updates} updates; "
            f"the online network has moved {end:.0%} of its own norm away",
            expected="a weight norm that changes whenever the target is updated",
            help="print a message where the target network is updated: is that line ever reached?",
            confidence=0.85 if evidence.updates < 10 * self.updates else 0.95,
        )

    def _never_copied(self, run: Run, mark: Series, distance: Series) -> Finding:
        return self.finding(
            "the target network is no copy of the network it stands for",
            where=replace(run.call("update"), update=int(mark.update[-1]), env_step=int(mark.env_step[-1])),
            seen=f"{distance.first:.0%} of the weights' norm apart at the first update, and the target's own norm is "
            f"{mark.first:.9g} at all {len(mark)} readings over {run.updates} updates",
            expected="equal weights at the start: a target begins as a copy",
            help="copy the weights once before training: target.load_state_dict(network.state_dict())",
            confidence=0.85,
        )
