"""The next state is valued at the action that is best in the state before."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.targets import fit_targets
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class NextValueOfTheActionBefore(Rule):
    """The next state is valued at the action that is best in the state before.

    ## What it checks
    The formula that the targets of Q-learning follow, found from their numbers: the reward plus the discounted value of
    the next state, at the action that a network thinks best in the state that the step began in. It is told from other
    ways of bootstrapping by the rows in which they differ.

    ## Why it matters
    The action was chosen for another state. The next one is worth less than it could be, by as much as the best action
    changes from step to step.

    ## Likely causes
    1. Double DQN asks the online network about `obs` where it should be `next_obs`. Confirm: read the line with the
       argmax.

    ## What to try first
    `best = online(next_obs).argmax(1)`, then `target(next_obs)[rows, best]`.

    ## When it is fine
    Never, as far as we know.

    ## References
    van Hasselt et al. 2016, *Deep Reinforcement Learning with Double Q-learning*.
    """

    code: ClassVar[str] = "VAL262"
    name: ClassVar[str] = "next-value-of-the-action-before"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "next"

    sure: float = 0.97  # share of the targets
    rows: int = 200  # of them

    def check(self, evidence: Script) -> Iterator[Finding]:
        fits = [each for each in fit_targets(evidence) if each.what == "q"]
        if not fits:
            raise NotEnough("the formula of no Q-target was found")
        for fit in fits:
            if fit.mistake == "elsewhere" and fit.audits >= 2 and fit.share >= self.sure and fit.rows >= self.rows:
                yield self.finding(
                    "the next state is valued at the action that is best in the state before",
                    where=fit.where,
                    seen=f"{fit.share:.0%} of {fit.rows} targets are the reward plus the discounted next value of the "
                    "action that a network thinks best in the observation of the step itself",
                    expected="the action that it thinks best in the next observation",
                    help="ask for the best action in the next observation: online(next_obs).argmax(1)",
                    confidence=0.95,
                )
