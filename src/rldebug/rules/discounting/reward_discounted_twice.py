"""Rewards are discounted by their time, and again as they are summed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.discounted_twice import discounted_twice
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class RewardDiscountedTwice(Rule):
    """Rewards are discounted by their time, and again as they are summed.

    ## What it checks
    Each target of a critic less γ times the target of the next step is the reward, times γ to the power of how many
    steps the episode has had. One γ fits all rows of all looks, down to rounding.

    ## Why it matters
    Rewards late in an episode count for nothing, whatever the critic is asked about: after some steps all targets are
    near zero.

    ## Likely causes
    1. `gamma ** t * reward` is stored, and the return is then summed backwards with γ. Confirm: print what is stored in
       an environment whose reward is always 1.

    ## What to try first
    Store the reward as it came; the sum discounts it.

    ## When it is fine
    Nothing that is known of.

    ## References
    Sutton & Barto 2018, section 3.3.
    """

    code: ClassVar[str] = "DIS352"
    name: ClassVar[str] = "reward-discounted-twice"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "formula"

    def check(self, evidence: Script) -> Iterator[Finding]:
        for found in discounted_twice(evidence):
            yield self.finding(
                "rewards are discounted by the step of the episode they came in, and again by the sum",
                where=found.where,
                seen=f"target = {found.gamma:.4g}^t × reward + {found.gamma:.4g} × next target in {found.share:.0%} of "
                f"{found.rows} steps, t from 0 to {found.latest}",
                expected="target = reward + γ × next target, whatever t is",
                help="store the reward as it came: the sum that goes back through the episode discounts it",
                confidence=0.97,
            )
