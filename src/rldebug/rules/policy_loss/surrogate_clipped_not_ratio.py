"""The surrogate is clipped in place of the ratio."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class SurrogateClippedNotRatio(Rule):
    """The surrogate is clipped in place of the ratio.

    ## What it checks
    Of the two sides of a clipped surrogate, the one that holds the policy back: whether the ratio was clipped and then
    multiplied by the advantage, or the product of both was clipped, to bounds around 1.

    ## Why it matters
    Bounds around 1 mean nothing for ratio · advantage, which is around 0: most rows lie outside, where there is no
    gradient, and those with a negative advantage are never held back.

    ## Likely causes
    1. The parenthesis is in the wrong place: `clamp(ratio * adv, 1 - eps, 1 + eps)`. Confirm: read the line.

    ## What to try first
    `torch.clamp(ratio, 1 - eps, 1 + eps) * adv`.

    ## When it is fine
    Never.

    ## References
    Schulman et al. 2017, *Proximal Policy Optimization Algorithms*, equation 7.
    """

    code: ClassVar[str] = "POL352"
    name: ClassVar[str] = "surrogate-clipped-not-ratio"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"

    losses: int = 3  # of two sides

    def check(self, evidence: Script) -> Iterator[Finding]:
        judged = [term for _, term in evidence.terms("policy") if term.get("nested") in ("min", "max")]
        if len(judged) < self.losses:
            raise NotEnough(f"{len(judged)} losses of two sides, needs {self.losses}")
        found = [(term, *term["bounded"]) for term in judged if term.get("bounded")]
        around = [
            (term, low, high)
            for term, low, high in found
            if low is not None and high is not None and 0.3 < low < 1.0 < high < 3.0
        ]
        if len(around) < 0.9 * len(judged):
            return
        term, low, high = around[0]
        yield self.finding(
            "ratio times advantage is clipped, and not the ratio",
            where=term.where,
            seen=f"the product is held between {low:g} and {high:g} in {len(around)} of {len(judged)} losses",
            expected="clip(ratio) · advantage",
            help="clip the ratio first, then multiply",
            confidence=0.95,
        )
