"""From the first step on hardly any action is random."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity, Where
from rldebug.forensics.epsilon import epsilon_of
from rldebug.forensics.exploring import draws_nothing, sampled, upper_bound, valued
from rldebug.forensics.updates import resumed
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class HardlyExplores(Rule):
    """From the first step on hardly any action is random.

    ## What it checks
    The steps with which the run begins, before and after the first updates: the share that did not follow the network
    which learns the values of the actions. With near certainty it is below a tenth from the very first step, and it
    stays there. The network has no layers that draw noise, nothing is sampled, and no weights came out of a file.

    ## Why it matters
    An untrained network prefers one action nearly everywhere. The memory fills with what that action does, and the
    values of the others are never corrected.

    ## Likely causes
    1. A schedule that is at its end at once: it counts what is large already, divides by too little, or its two ends
       are exchanged. Confirm: print epsilon at step 0.
    2. The final value of epsilon is used throughout. Confirm: the same.

    ## What to try first
    Print epsilon at steps 0, 100 and 1000.

    ## When it is fine
    Values that start optimistic, and tasks in which chance leads everywhere.

    ## References
    Mnih et al. 2015, *Human-level control through deep reinforcement learning* (epsilon from 1 to 0.1).
    """

    code: ClassVar[str] = "EXP305"
    name: ClassVar[str] = "hardly-explores"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "threshold"
    follows: ClassVar[tuple[str, ...]] = ("EXP301", "EXP302", "ACT300", "EXP304")

    early: int = 1000  # steps of the run, within which are
    first: int = 100  # that were looked at
    at_first: float = 0.12  # share of random ones among them, at most
    low: float = 0.09  # and among all that were looked at

    def check(self, evidence: Script) -> Iterator[Finding]:
        epsilon = epsilon_of(evidence)
        if epsilon is None or not valued(evidence) or sampled(evidence):
            raise NotEnough("which steps are random cannot be told")
        early = [each.audit.number for each in epsilon.parts if each.audit.env_step <= self.early]
        of_start = np.isin(epsilon.audit, early)
        if not early or epsilon.parts[0].audit.env_step != 0 or of_start.sum() < self.first:
            raise NotEnough(f"{int(of_start.sum())} steps at the beginning were looked at, needs {self.first}")
        if resumed(evidence) or not all(draws_nothing(evidence, str(each.module)) for each in epsilon.parts):
            return
        asked = np.concatenate([each.asked for each in epsilon.parts])
        random = np.where(epsilon.random & asked, epsilon.factor, epsilon.random)  # those that were asked for in vain
        first = min(round(float(random[of_start].sum())), int(of_start.sum()))
        every = min(round(float(random.sum())), len(random))
        if upper_bound(first, int(of_start.sum()), z=1.3) > self.at_first:
            return
        if upper_bound(every, len(random)) > self.low or not every:
            return  # none at all is told by another rule
        line = epsilon.line
        yield self.finding(
            "hardly any action is random, from the first step on",
            where=Where(file=line[0], line=line[1], update=0) if line else Where(update=0),
            seen=f"about {first} of the first {int(of_start.sum())} steps did not follow the network, and "
            f"{every - first} of {len(random) - int(of_start.sum())} later ones",
            expected="mostly random actions until there is something to follow",
            help="print epsilon at steps 0, 100 and 1000, and the counter that its schedule is computed from",
            confidence=0.75,
        )
