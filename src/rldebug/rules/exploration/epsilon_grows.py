"""The agent gets more random as it learns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from rldebug.evidence.run import Run
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class EpsilonGrows(Rule):
    """Epsilon grows during training.

    ## What it checks
    The exploration parameter handed over as `epsilon=`: it rises over the run, and hardly ever falls.

    ## Why it matters
    The agent acts greedily while it knows nothing, and at random once it knows something.

    ## Likely causes
    1. Start and end of the schedule are swapped. Confirm: print epsilon at the first and the last step.
    2. The sign of the decay is wrong, or the decay factor is above 1. Confirm: read the line that updates it.
    3. The probability of the *greedy* action is handed over. Confirm: it is compared with the random number the other
       way round.

    ## What to try first
    Print epsilon at the first and the last step.

    ## When it is fine
    Schedules that restart: they fall as much as they rise, and are not reported.

    ## References
    Mnih et al., *Human-level control through deep reinforcement learning* (2015).
    """

    code: ClassVar[str] = "EXP003"
    name: ClassVar[str] = "epsilon-grows"
    severity: ClassVar[Severity] = "warning"
    aim: ClassVar[str] = "threshold"
    needs: ClassVar[tuple[str, ...]] = ("exploration/epsilon",)

    rise: float = 0.1  # from the first to the last tenth of the readings
    readings: int = 10  # of epsilon
    falls: float = 0.1  # share of all changes that may be downward

    def check(self, evidence: Run) -> Iterator[Finding]:
        epsilon = evidence["exploration/epsilon"].finite
        if len(epsilon) < self.readings:
            raise NotEnough(f"{len(epsilon)} readings of epsilon, needs {self.readings}")
        changes = np.diff(epsilon.value)
        up, down = float(changes[changes > 0].sum()), float(-changes[changes < 0].sum())
        start, end = epsilon.head(0.1).mean(), epsilon.tail(0.1).mean()
        if end - start < self.rise or down > self.falls * (up + down):
            return
        at = int(np.flatnonzero(changes > 0)[0])
        yield self.finding(
            "epsilon grows during training",
            where=replace(evidence.call("update"), update=int(epsilon.update[at]), env_step=int(epsilon.env_step[at])),
            seen=f"{epsilon.first:.3g} at update {epsilon.update[0]}, {epsilon.last:.3g} at {epsilon.update[-1]}",
            expected="a decay: high at first, low at the end",
            help="swap start and end of the schedule, or the sign of its step",
            confidence=0.9,
        )
