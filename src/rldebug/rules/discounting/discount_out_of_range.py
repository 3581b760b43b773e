"""The discount that is really applied is out of range."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.targets import fit_targets
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class DiscountOutOfRange(Rule):
    """The discount that is really applied is out of range.

    ## What it checks
    The targets of the losses are traced back to the steps they belong to, and the formula is worked out by which the
    steps within episodes were made: it fits them down to rounding. Its coefficient of what follows is the discount as
    it is really applied: above 1, below one half, or negative.

    ## Why it matters
    Above 1 targets grow without bound. Far below 1 nothing that is more than a step or two away is learned. With a
    negative one a good future counts against an action.

    ## Likely causes
    1. The discount is applied twice, or to the wrong factor (γ · reward + value). Confirm: write the target of one
       row by hand.
    2. γ and λ, or γ and a learning rate, are swapped. Confirm: print them where the target is made.
    3. The value is subtracted instead of added. Confirm: read the line.

    ## What to try first
    Print reward, next value and target of one row, and solve for γ.

    ## When it is fine
    Short-sighted tasks, where the next step or two is all that counts.

    ## References
    Sutton & Barto 2018, section 3.3.
    Seen in the wild: RWD-06 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "DIS307"
    name: ClassVar[str] = "discount-out-of-range"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "discount"
    follows: ClassVar[tuple[str, ...]] = ("VAL396",)

    lowest: float = 0.5  # discount that is not spoken of
    highest: float = 1.001  # one, and what rounding adds
    sure: float = 0.95  # share of steps that the formula explains

    def check(self, evidence: Script) -> Iterator[Finding]:
        fits = fit_targets(evidence)
        if not fits:
            raise NotEnough("the formula of no target was found")

        for fit in fits:
            gamma = fit.gamma
            if (
                gamma is None
                or fit.audits < 2
                or fit.mistake
                or fit.order
                or fit.name == "reward"
                or fit.share < self.sure
            ):
                continue
            if self.lowest <= gamma <= self.highest or (fit.what == "weight" and abs(gamma) < 0.02):
                continue
            yield self.finding(
                "what follows is subtracted in the target"
                if gamma < 0
                else f"the discount that is applied is {gamma:.4g}",
                where=fit.where,
                seen=f"what follows counts {gamma:.4g} times, the reward {fit.reward:.4g} times, in {fit.rows} steps",
                expected=f"a discount between {self.lowest:g} and 1",
                help="check where γ enters the target",
                confidence=0.95 if gamma < 0 or gamma > self.highest else 0.85,
                severity="error" if gamma < -0.05 or gamma > 1.02 else "warning",
            )
