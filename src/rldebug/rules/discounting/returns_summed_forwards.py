"""Returns sum up the past instead of the future."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.targets import fit_targets
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ReturnsSummedForwards(Rule):
    """Returns sum up the past instead of the future.

    ## What it checks
    The targets of the losses are traced back to the steps they belong to, and the formula is worked out by which the
    steps within episodes were made: it fits them down to rounding. It is the reward plus γ times the return of the
    step *before*.

    ## Why it matters
    An action is credited with what happened before it, and not with what it led to.

    ## Likely causes
    1. The rewards are not reversed before they are accumulated. Confirm: print the return of the last step of an
       episode, it must be its reward.
    2. The list of returns is reversed once too often, or not at all. Confirm: the same.

    ## What to try first
    Accumulate from the last step to the first.

    ## When it is fine
    Never.

    ## References
    Seen in the wild: RWD-05 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "DIS309"
    name: ClassVar[str] = "returns-summed-forwards"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "formula"

    def check(self, evidence: Script) -> Iterator[Finding]:
        fits = fit_targets(evidence)
        if not fits:
            raise NotEnough("the formula of no target was found")

        for fit in fits:
            if fit.mistake == "forwards" and fit.audits >= 2:
                yield self.finding(
                    "returns are summed from the first step on",
                    where=fit.where,
                    seen=f"reward + {fit.gamma:.4g} · return of the step before in {fit.share:.0%} of {fit.rows} steps",
                    expected="reward + γ · return of the step after",
                    help="go through the rewards from the last to the first",
                    confidence=0.97,
                )
