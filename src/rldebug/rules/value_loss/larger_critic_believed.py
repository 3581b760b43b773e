"""The target takes the larger of two critics."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.targets import fit_targets
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class LargerCriticBelieved(Rule):
    """The target takes the larger of two critics.

    ## What it checks
    The targets of the losses are traced back to the steps they belong to, and the formula is worked out by which the
    steps within episodes were made: it fits them down to rounding. What it bootstraps from is the larger of what two
    critics said of the next observation, where they differ.

    ## Why it matters
    The larger one is the one that errs upwards: values run away. The second critic is there to prevent that.

    ## Likely causes
    1. `max` is written where `min` belongs. Confirm: read the line.

    ## What to try first
    Take the minimum of the two.

    ## When it is fine
    Hardly ever; where it is meant, ignore this rule.

    ## References
    Fujimoto et al. 2018, *Addressing Function Approximation Error in Actor-Critic Methods*.
    """

    code: ClassVar[str] = "VAL362"
    name: ClassVar[str] = "larger-critic-believed"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "next"

    def check(self, evidence: Script) -> Iterator[Finding]:
        fits = fit_targets(evidence)
        if not fits:
            raise NotEnough("the formula of no target was found")

        for fit in fits:
            if fit.mistake == "larger" and fit.audits >= 2:
                yield self.finding(
                    "the target takes the larger of two critics",
                    where=fit.where,
                    seen=f"in {fit.share:.0%} of {fit.rows} steps",
                    expected="the smaller of the two",
                    help="take the minimum of the two critics",
                    confidence=0.95,
                )
