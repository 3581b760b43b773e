"""Advantages are discounted otherwise than the returns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.targets import fit_targets
from rldebug.forensics.weight_recursion import recursions
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class AdvantageDiscountDiffers(Rule):
    """Advantages are discounted otherwise than the returns.

    ## What it checks
    The targets of the critic and the weights of the log-probs each follow a recursion down to rounding. The γ of the
    one is not the γ of the other.

    ## Why it matters
    The critic predicts sums with one discount, and the TD error takes them for sums with another: it is off by a part
    of the value in every step.

    ## Likely causes
    1. γ is left out, or is in it twice, in one of the two. Confirm: read both lines.
    2. λ stands where γ belongs. Confirm: the γ that was found is the number of λ.

    ## What to try first
    Use one γ for both.

    ## When it is fine
    Where two horizons are meant.

    ## References
    Schulman et al. 2016, *High-Dimensional Continuous Control Using Generalized Advantage Estimation*.
    """

    code: ClassVar[str] = "ADV353"
    name: ClassVar[str] = "advantage-discount-differs"
    severity: ClassVar[Severity] = "warning"
    aim: ClassVar[str] = "formula"
    status: ClassVar[Literal["stable", "nursery"]] = "nursery"  # accused a healthy program of bench/bugs
    reads: ClassVar[str] = "Script"

    near: float = 0.004  # between the two discounts

    def check(self, evidence: Script) -> Iterator[Finding]:
        found = [(each, where) for each, where in recursions(evidence) if not each.swapped]
        returns = [
            each
            for each in fit_targets(evidence)
            if each.what == "value" and each.gamma is not None and not each.mistake and not each.order
        ]
        if not found or len(returns) != 1:
            raise NotEnough("the discount of advantages or of returns is not known")
        told = returns[0].gamma
        assert told is not None
        for each, where in found:
            if abs(each.gamma - told) > self.near:
                yield self.finding(
                    f"advantages are discounted by {each.gamma:.4g}, returns by {told:.4g}",
                    where=where,
                    seen=f"{each.rows} weights of log-probs, {returns[0].rows} targets of the critic",
                    expected="one γ for both",
                    help="use the same gamma in the TD error and in the returns",
                    confidence=0.85,
                )
                return
