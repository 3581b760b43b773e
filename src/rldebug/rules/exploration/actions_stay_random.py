"""Actions are as random at the end of the run as at its beginning."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity, Where
from rldebug.forensics.epsilon import Epsilon, epsilon_of
from rldebug.forensics.exploring import chance_agreement, discrete, lower_bound, upper_bound
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ActionsStayRandom(Rule):
    """Actions are as random at the end of the run as at its beginning.

    ## What it checks
    For a network that learns a value for each action, the steps of the program: those for which it was not asked, or
    for which another action than its best one was executed. Most steps of the second half of a finished run are such
    steps, as many as at first; and the actions that were executed agree with the values no more than chance does.

    ## Why it matters
    The agent never uses what it has learned. It only sees what a random player sees, and its returns stay those of one.

    ## Likely causes
    1. The line that lowers epsilon is missing, or never reached. Confirm: print epsilon at the end of each episode.
    2. The schedule counts in another unit: episodes where steps were meant. Confirm: print its counter.
    3. The random warm-up never ends. Confirm: print the condition.

    ## What to try first
    Print epsilon at the first and the last step.

    ## When it is fine
    Learning from a random player on purpose. Runs that were stopped early, or are short, are not judged.

    ## References
    Nikanjam et al., *Faults in Deep Reinforcement Learning Programs* (suboptimal exploration rate).
    """

    code: ClassVar[str] = "EXP300"
    name: ClassVar[str] = "actions-stay-random"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "threshold"
    follows: ClassVar[tuple[str, ...]] = ("ACT300",)

    updates: int = 600  # of the run
    early: float = 0.1  # of the updates, up to which steps are early
    late: float = 0.4  # from which they are late
    steps: int = 28  # early, and late, that were looked at
    audits: int = 2  # among the late ones
    high: float = 0.6  # share of random steps
    decay: float = 0.15  # by which it may have fallen
    growth: float = 0.25  # beyond chance, from which on it has grown
    each: int = 100  # steps, where every single one is random; and of them
    last: int = 12  # late ones
    learned: int = 200  # late rows of losses, whose actions must look random too

    def check(self, evidence: Script) -> Iterator[Finding]:
        epsilon, actions = epsilon_of(evidence), discrete(evidence)
        if epsilon is None or actions is None:
            raise NotEnough("which steps are random cannot be told")
        updates = int(evidence.counts.get("updates") or 0)
        if updates < self.updates or evidence.meta.get("state") != "finished":
            raise NotEnough(f"needs a finished run of {self.updates} updates, this one has {updates}")
        early, of_early, _ = epsilon.share((epsilon.update > 0) & (epsilon.update <= self.early * updates))
        late, of_late, audits = epsilon.share(epsilon.update >= self.late * updates)
        enough = of_early >= self.steps and of_late >= self.steps and audits >= self.audits
        if not enough and not self._all(epsilon, late, of_late):
            raise NotEnough(f"{of_early} early and {of_late} late steps were looked at, needs {self.steps}")
        first, last = epsilon.factor * early / max(of_early, 1), epsilon.factor * late / of_late
        agree, rows = chance_agreement(evidence, int(0.3 * updates))
        if rows < (40 if enough else self.learned) or agree > 1 / actions + 0.15:
            return
        if enough and epsilon.factor * (lower_bound(late, of_late) - upper_bound(early, of_early)) >= self.growth:
            return  # they grow random: another rule tells that
        if enough and (epsilon.factor * lower_bound(late, of_late) < self.high or last < first - self.decay):
            return
        line = epsilon.line
        yield self.finding(
            "actions are random to the end of the run",
            where=Where(file=line[0], line=line[1], update=updates) if line else Where(update=updates),
            seen=f"{min(last, 1):.0%} of {of_late} steps after update {int(self.late * updates)} are random, "
            f"{min(first, 1):.0%} of {of_early} up to update {int(self.early * updates)}; executed actions are the "
            f"best ones in {agree:.0%} of {rows} rows",
            expected="a share that falls to 0.1 or less",
            help="print epsilon at the first and the last step, and the counter its schedule is computed from",
            confidence=0.88,
        )

    def _all(self, epsilon: Epsilon, late: int, of_late: int) -> bool:
        """Every step since the first update that was looked at is random, also the few late ones."""
        random, steps, _ = epsilon.share(epsilon.update > 0)
        return steps >= self.each and random == steps and late == of_late >= self.last
