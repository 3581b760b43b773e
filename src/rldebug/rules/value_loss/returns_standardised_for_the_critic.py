"""The critic learns standardised returns, and its values are used as they are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.standardised_returns import standardised
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ReturnsStandardisedForTheCritic(Rule):
    """The critic learns standardised returns; its values are used raw.

    ## What it checks
    By which factors rewards, next values and next targets stand in a critic's target is fitted in each rollout, down to
    rounding. Here those of rewards and of next values change together from rollout to rollout: returns were formed of
    rewards and values as they are, and then standardised, each rollout by itself.

    ## Why it matters
    What the critic says is in units of standard deviations, about a mean that is gone, and it is added to rewards in
    their own units. γ V(s') is too small or too large by the factor of the rollout.

    ## Likely causes
    1. `(returns - returns.mean()) / returns.std()` before the value loss. Confirm: print both, beside the values.

    ## What to try first
    Leave the returns of the critic as they are; normalise the advantages, or scale rewards by a running deviation.

    ## When it is fine
    Where the spread of the returns is near one all the time.

    ## References
    van Hasselt et al. 2016, *Learning values across many orders of magnitude*.
    """

    code: ClassVar[str] = "VAL461"
    name: ClassVar[str] = "returns-standardised-for-the-critic"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "formula"

    def check(self, evidence: Script) -> Iterator[Finding]:
        if not any(True for _ in evidence.terms("regression")):
            raise NotEnough("no regression was seen")
        found = standardised(evidence)
        if found is None:
            return
        low, high = min(found.scales), max(found.scales)
        what = f"rewards and next values are multiplied by {low:.3g} to {high:.3g}, rollout by rollout"
        if not found.gamma:
            what = (
                "targets have mean 0 and deviation 1 in each rollout, and next values count as much as that makes them"
            )
        yield self.finding(
            "the critic learns standardised returns, and its values are used as they are",
            where=found.where,
            seen=f"{what}, in {found.rows} targets",
            expected="targets in the units of the rewards that values are added to",
            help="train the critic on the returns as they are",
            confidence=0.9,
        )
