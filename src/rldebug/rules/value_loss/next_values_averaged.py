"""The target takes the mean of the next values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.targets import fit_targets
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class NextValuesAveraged(Rule):
    """The target takes the mean of the next values.

    ## What it checks
    The formula that the targets of Q-learning follow, found from their numbers: the reward plus the discounted mean of
    the next values over all actions. It is told from other ways of bootstrapping by the rows in which they differ.

    ## Why it matters
    These are the values of acting at random: the network never learns what follows if it acts well.

    ## Likely causes
    1. `mean` in the line of the target where `max` is meant. Confirm: read that line.

    ## What to try first
    `next_q.max(dim=1).values`.

    ## When it is fine
    Where the values of a random policy are wanted.

    ## References
    Sutton & Barto 2018, section 6.6.
    """

    code: ClassVar[str] = "VAL372"
    name: ClassVar[str] = "next-values-averaged"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "next"

    sure: float = 0.95  # share of the targets

    def check(self, evidence: Script) -> Iterator[Finding]:
        fits = [each for each in fit_targets(evidence) if each.what == "q"]
        if not fits:
            raise NotEnough("the formula of no Q-target was found")
        for fit in fits:
            if fit.mistake == "mean" and fit.audits >= 2 and fit.share >= self.sure:
                yield self.finding(
                    "the target takes the mean of the next values",
                    where=fit.where,
                    seen=f"{fit.share:.0%} of {fit.rows} targets are the reward plus {fit.gamma:.4g} times the mean of "
                    "the next values over all actions",
                    expected="the largest of them, or that of an action that is chosen",
                    help="next_q.max(dim=1).values",
                    confidence=0.85,
                )
