"""The recursion of the advantage runs forwards."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.targets import fit_targets
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class AdvantageSummedForwards(Rule):
    """The recursion of the advantage runs forwards.

    ## What it checks
    The targets of the losses are traced back to the steps they belong to, and the formula is worked out by which the
    steps within episodes were made: it fits them down to rounding. It is the TD error plus γλ times the advantage of
    the step *before*.

    ## Why it matters
    The advantage sums up what was better than expected before the action, which the action did not cause.

    ## Likely causes
    1. The loop runs from the first step to the last. Confirm: the advantage of the last step must be its TD error.

    ## What to try first
    Loop over `reversed(range(steps))`.

    ## When it is fine
    Never.

    ## References
    Schulman et al. 2016, *High-Dimensional Continuous Control Using Generalized Advantage Estimation*.
    """

    code: ClassVar[str] = "ADV325"
    name: ClassVar[str] = "advantage-summed-forwards"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "formula"

    def check(self, evidence: Script) -> Iterator[Finding]:
        fits = fit_targets(evidence)
        if not fits:
            raise NotEnough("the formula of no target was found")

        for fit in fits:
            if fit.mistake == "forwards-gae" and fit.audits >= 2:
                yield self.finding(
                    "advantages are summed from the first step on",
                    where=fit.where,
                    seen=f"TD error + γλ · advantage of the step before, in {fit.share:.0%} of {fit.rows} steps",
                    expected="TD error + γλ · advantage of the step after",
                    help="run the recursion from the last step to the first",
                    confidence=0.97,
                )
