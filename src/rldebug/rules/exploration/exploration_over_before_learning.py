"""Random actions have run out before the first update."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity, Where
from rldebug.forensics.epsilon import epsilon_of
from rldebug.forensics.exploring import lower_bound, upper_bound
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ExplorationOverBeforeLearning(Rule):
    """Random actions have run out before the first update.

    ## What it checks
    The steps before the first optimizer step of a run. The first ones are random; then, for hundreds of steps and three
    times as long, the untrained network is followed.

    ## Why it matters
    The memory is filled with what an untrained network prefers, and by the time there is something to learn nothing new
    is tried.

    ## Likely causes
    1. A decay that was chosen for episodes is applied at every step. Confirm: print epsilon after the first episode.
    2. The schedule is shorter than the warm-up. Confirm: compare the two numbers.

    ## What to try first
    Print epsilon at the first update.

    ## When it is fine
    Values that start optimistic.

    ## References
    Nikanjam et al., *Faults in Deep Reinforcement Learning Programs* (suboptimal exploration rate).
    Seen in the wild: EXP-03 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "EXP304"
    name: ClassVar[str] = "exploration-over-before-learning"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "threshold"
    follows: ClassVar[tuple[str, ...]] = ("ENV003", "ENV020")

    steps: int = 200  # before the first update
    first: int = 16  # steps of the run
    started: float = 0.4  # share of random steps among the first ones, at least
    over: float = 0.2  # among the rest, at most
    rest: float = 0.75  # of the steps before the first update

    def check(self, evidence: Script) -> Iterator[Finding]:
        epsilon = epsilon_of(evidence)
        if epsilon is None:
            raise NotEnough("which steps are random cannot be told")
        if any(int(each.get("stepped_after_end") or 0) > 4 for each in evidence.streams):
            return  # a schedule that counts ends of episodes runs off with them
        begun = evidence.audits[0]
        before = (epsilon.audit == begun.number) & (epsilon.update == 0)
        if begun.env_step != 0 or before.sum() < self.steps:
            raise NotEnough(f"{int(before.sum())} steps before the first update, needs {self.steps}")
        random = epsilon.random[before].astype(np.float64)
        last = random[int(len(random) * (1 - self.rest)) :]
        if epsilon.factor * lower_bound(int(random[: self.first].sum()), self.first) < self.started:
            return
        if epsilon.factor * upper_bound(int(last.sum()), len(last)) > self.over:
            return
        later, of_later, _ = epsilon.share(epsilon.update > 0)
        if of_later and epsilon.factor * later / of_later > 2 * self.over:
            return
        line = epsilon.line
        yield self.finding(
            "exploration is over before learning begins",
            where=Where(file=line[0], line=line[1], update=0) if line else Where(update=0),
            seen=f"{int(random[: self.first].sum())} of the first {self.first} steps are random, and "
            f"{int(last.sum())} of the last {len(last)} before the first update",
            expected="random steps until there is something to follow",
            help="print epsilon at the first update; decay it per episode, or over as many steps as were meant",
            confidence=0.85,
        )
