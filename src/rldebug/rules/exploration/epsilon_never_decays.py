"""Epsilon stays high for the whole run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from rldebug.evidence.run import Run
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class EpsilonNeverDecays(Rule):
    """Epsilon is high and never changes.

    ## What it checks
    The exploration parameter handed over as `epsilon=`: the same value in every update of a long run, and a large one.
    A warning where nearly all actions are random in a run of thousands of updates, else a note.

    ## Why it matters
    The agent never does what it has learned, so its returns stay those of the random policy, and states that only a
    good policy reaches are never seen.

    ## Likely causes
    1. The schedule is computed with integers, `step // total`, or from a counter that is never advanced. Confirm: print
       epsilon at the first and the last step.
    2. The decay is applied to a copy, or only where an `if` is never true. Confirm: search for the assignment.
    3. The schedule is meant for a run many times as long. Confirm: compare its length with the number of steps.

    ## What to try first
    Print epsilon at the first and the last step.

    ## When it is fine
    Data is collected with a fixed random policy on purpose. A small constant epsilon (0.1) is not reported.

    ## References
    Mnih et al., *Human-level control through deep reinforcement learning* (2015): 1 to 0.1 over the first 2 % of steps.
    """

    code: ClassVar[str] = "EXP002"
    name: ClassVar[str] = "epsilon-never-decays"
    severity: ClassVar[Severity] = "warning"
    aim: ClassVar[str] = "threshold"
    needs: ClassVar[tuple[str, ...]] = ("exploration/epsilon",)

    high: float = 0.3  # of a constant epsilon
    random: float = 0.9  # from which on nearly all actions are random
    updates: int = 300  # of a run that should show a decay
    long: int = 1500  # updates, from which on a plateau is no longer a warm-up

    def check(self, evidence: Run) -> Iterator[Finding]:
        epsilon = evidence["exploration/epsilon"].finite
        if len(epsilon) < 10 or epsilon.update[-1] - epsilon.update[0] < self.updates:
            raise NotEnough(f"{evidence.updates} updates, needs {self.updates}")
        if np.ptp(epsilon.value) > 1e-6 or epsilon.first < self.high:
            return
        sure = epsilon.first >= self.random and epsilon.update[-1] >= self.long
        yield self.finding(
            "epsilon never decays",
            where=replace(evidence.call("update"), update=int(epsilon.update[-1]), env_step=int(epsilon.env_step[-1])),
            seen=f"{epsilon.first:.3g} in all {len(epsilon)} readings, from update {epsilon.update[0]} to "
            f"{epsilon.update[-1]}",
            expected="a decay to 0.1 or less",
            help="print epsilon at the first and the last step, and the counter its schedule is computed from",
            confidence=0.8 if sure else 0.6,
            severity=None if sure else "note",
        )
