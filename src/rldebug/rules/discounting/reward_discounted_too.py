"""The reward of the step itself is discounted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.targets import fit_targets
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class RewardDiscountedToo(Rule):
    """The reward of the step itself is discounted.

    ## What it checks
    The formula that the targets of Q-learning follow, found from their numbers: γ times the reward plus γ times the
    next value. The factor of the reward is the one of the next value, and neither is 1.

    ## Why it matters
    All values are too small by that factor; where they are compared with returns, or bounded, they do not fit.

    ## Likely causes
    1. Brackets: `gamma * (reward + value)`. Confirm: read the line of the target.

    ## What to try first
    `reward + gamma * value`.

    ## When it is fine
    Where the reward comes one step later than the state that it is for. Rewards scaled by the same number as γ give the
    same targets.

    ## References
    Sutton & Barto 2018, section 3.3.
    """

    code: ClassVar[str] = "DIS350"
    name: ClassVar[str] = "reward-discounted-too"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "formula"

    near: float = 5e-4  # between the two factors

    def check(self, evidence: Script) -> Iterator[Finding]:
        fits = [each for each in fit_targets(evidence) if each.what == "q" and each.gamma is not None]
        if not fits:
            raise NotEnough("the formula of no Q-target was found")
        for fit in fits:
            gamma = fit.gamma or 0.0
            if fit.mistake or fit.changed or fit.n > 1 or fit.audits < 2 or not 0.3 < gamma < 0.997:
                continue
            if abs(fit.reward - gamma) < self.near and fit.share >= 0.9:
                yield self.finding(
                    f"the reward of the step itself is multiplied by {fit.reward:.4g}",
                    where=fit.where,
                    seen=f"{gamma:.4g} times the reward plus {gamma:.4g} times the next value in {fit.share:.0%} of "
                    f"{fit.rows} steps",
                    expected="the whole reward, and the discounted next value",
                    help="reward + gamma * value, not gamma * (reward + value)",
                    confidence=0.9,
                )
