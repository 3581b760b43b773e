"""The target takes the index of the best next action for its value."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.targets import fit_targets
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class IndexTakenForValue(Rule):
    """The target takes the index of the best next action for its value.

    ## What it checks
    The formula that the targets of Q-learning follow, found from their numbers: the reward plus the discount times 0,
    1, 2, …, as the first, second or third of the next actions is worth most. No value fits them.

    ## Why it matters
    What an action is worth depends on its number in the list of actions, and nothing is passed back from later rewards.

    ## Likely causes
    1. `max(dim=1)` gives values and indices, and the second was taken: `[1]`, or unpacked the other way round. Confirm:
       print what is added to the reward; it is whole numbers.
    2. `argmax(dim=1)` without `gather`. Confirm: the same.

    ## What to try first
    `next_q.max(dim=1).values`.

    ## When it is fine
    Never.

    ## References
    Sutton & Barto 2018, section 6.5.
    """

    code: ClassVar[str] = "VAL280"
    name: ClassVar[str] = "index-taken-for-value"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "next"

    sure: float = 0.9  # share of the targets

    def check(self, evidence: Script) -> Iterator[Finding]:
        fits = [each for each in fit_targets(evidence) if each.what == "q"]
        if not fits:
            raise NotEnough("the formula of no Q-target was found")
        for fit in fits:
            if fit.mistake == "index" and fit.audits >= 2 and fit.share >= self.sure:
                yield self.finding(
                    "the target takes the index of the best next action for its value",
                    where=fit.where,
                    seen=f"{fit.share:.0%} of {fit.rows} targets are the reward plus {fit.gamma:.4g} times the "
                    "number of the next action that is worth most",
                    expected="the value of that action",
                    help="next_q.max(dim=1).values",
                    confidence=0.95,
                )
