"""Actions become more random as training goes on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity, Where
from rldebug.forensics.epsilon import epsilon_of
from rldebug.forensics.exploring import lower_bound, upper_bound
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ActionsGrowRandom(Rule):
    """Actions become more random as training goes on.

    ## What it checks
    For a network that learns a value for each action, the share of steps that were taken at random: without asking it,
    or against its best action. It is far higher later in the run than in the first updates, beyond chance.

    ## Why it matters
    The agent acts greedily while it knows nothing, and at random once it knows something.

    ## Likely causes
    1. Start and end of the schedule are swapped. Confirm: print epsilon at the first and the last step.
    2. The test is the wrong way round: `random() > epsilon` takes the random branch. Confirm: read the line.
    3. The decay factor is above 1, or its sign is wrong. Confirm: print epsilon.

    ## What to try first
    Print epsilon at the first and the last step.

    ## When it is fine
    Schedules that go up and down on purpose.

    ## References
    Mnih et al. 2015, *Human-level control through deep reinforcement learning*.
    """

    code: ClassVar[str] = "EXP303"
    name: ClassVar[str] = "actions-grow-random"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "threshold"
    follows: ClassVar[tuple[str, ...]] = ("ACT300",)

    updates: int = 200  # of the run
    early: float = 0.1  # of the updates, up to which steps are early
    late: float = 0.4  # from which they are late
    steps: int = 28  # early, and late, that were looked at
    audits: int = 2  # among the late ones
    growth: float = 0.25  # beyond chance

    def check(self, evidence: Script) -> Iterator[Finding]:
        epsilon = epsilon_of(evidence)
        if epsilon is None:
            raise NotEnough("which steps are random cannot be told")
        updates = int(evidence.counts.get("updates") or 0)
        early, of_early, _ = epsilon.share((epsilon.update > 0) & (epsilon.update <= self.early * updates))
        late, of_late, audits = epsilon.share(epsilon.update >= self.late * updates)
        if updates < self.updates or min(of_early, of_late) < self.steps or audits < self.audits:
            raise NotEnough(f"{of_early} early and {of_late} late steps were looked at, needs {self.steps}")
        if epsilon.factor * (lower_bound(late, of_late) - upper_bound(early, of_early)) < self.growth:
            return
        line = epsilon.line
        yield self.finding(
            "actions become more random as training goes on",
            where=Where(file=line[0], line=line[1], update=updates) if line else Where(update=updates),
            seen=f"{early} of {of_early} steps up to update {int(self.early * updates)} are random, "
            f"{late} of {of_late} after update {int(self.late * updates)}",
            expected="a share that falls",
            help="print epsilon at the first and the last step, and read the test it is compared in",
            confidence=0.88,
        )
