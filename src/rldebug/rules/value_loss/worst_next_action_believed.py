"""The target takes the smallest of the next values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.greedy import follows_least
from rldebug.forensics.targets import fit_targets
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class WorstNextActionBelieved(Rule):
    """The target takes the smallest of the next values.

    ## What it checks
    The formula that the targets of Q-learning follow, found from their numbers: the reward plus the discounted value of
    the next action that is worth least. It is told from other ways of bootstrapping by the rows in which they differ.

    ## Why it matters
    States are worth what the worst action makes of them, so all good ways through them look alike.

    ## Likely causes
    1. `min` in the line of the target where `max` is meant, or `argmin`. Confirm: read that line.
    2. The sign of the values was turned in one place only. Confirm: print targets beside rewards.

    ## What to try first
    `next_q.max(dim=1).values`.

    ## When it is fine
    Where values are costs, and the action with the smallest one is taken, it is right; then nothing is said.

    ## References
    Sutton & Barto 2018, section 6.5.
    """

    code: ClassVar[str] = "VAL370"
    name: ClassVar[str] = "worst-next-action-believed"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "next"

    sure: float = 0.9  # share of the targets

    def check(self, evidence: Script) -> Iterator[Finding]:
        fits = [each for each in fit_targets(evidence) if each.what == "q"]
        if not fits:
            raise NotEnough("the formula of no Q-target was found")
        for fit in fits:
            if fit.mistake == "least" and fit.audits >= 2 and fit.share >= self.sure and not follows_least(evidence):
                yield self.finding(
                    "the target takes the value of the worst next action",
                    where=fit.where,
                    seen=f"{fit.share:.0%} of {fit.rows} targets are the reward plus {fit.gamma:.4g} times the "
                    "smallest of the next values",
                    expected="the largest of the next values",
                    help="next_q.max(dim=1).values",
                    confidence=0.95,
                )
