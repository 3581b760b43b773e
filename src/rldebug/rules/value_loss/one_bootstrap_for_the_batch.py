"""One and the same next value is added to all rows of a batch."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.targets import fit_targets
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class OneBootstrapForTheBatch(Rule):
    """One and the same next value is added to all rows of a batch.

    ## What it checks
    The formula that the targets of Q-learning follow, found from their numbers: the reward of the row plus the largest
    value of the whole batch, the same for every row.

    ## Why it matters
    Where an action leads to makes no difference: only its immediate reward does.

    ## Likely causes
    1. `next_q.max()` without an axis. Confirm: print its shape; there should be one number for each row.

    ## What to try first
    `next_q.max(dim=1).values`.

    ## When it is fine
    Never.

    ## References
    Sutton & Barto 2018, section 6.5.
    """

    code: ClassVar[str] = "VAL371"
    name: ClassVar[str] = "one-bootstrap-for-the-batch"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "next"

    def check(self, evidence: Script) -> Iterator[Finding]:
        fits = [each for each in fit_targets(evidence) if each.what == "q"]
        if not fits:
            raise NotEnough("the formula of no Q-target was found")
        for fit in fits:
            if fit.mistake == "batch" and fit.audits >= 2:
                yield self.finding(
                    "all rows of a batch are bootstrapped from one number",
                    where=fit.where,
                    seen=f"{fit.share:.0%} of {fit.rows} targets are the reward plus {fit.gamma:.4g} times the largest "
                    "value of the whole batch",
                    expected="the largest value of the row's own next observation",
                    help="next_q.max(dim=1).values",
                    confidence=0.96,
                )
