"""The logarithm of the ratio is clipped as if it were the ratio."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.places import calls
from rldebug.syntax.ratios import bound_around_one, clamped, exponent, new_and_old


@dataclass(frozen=True, kw_only=True)
class LogRatioClippedAroundOne(Rule):
    """The logarithm of the ratio is clipped as if it were the ratio.

    ## What it checks
    What clamp() is given with bounds on both sides of 1, worked out with a clip range of 0.2 where the text names none:
    the difference of a new and an old log-prob, and no exp() around it. Read from the source.

    ## Why it matters
    The difference begins at 0, outside of the bounds, and stays there. Rows with a negative advantage keep no gradient
    through the clipped branch, and what is maximised is no importance-weighted advantage.

    ## Likely causes
    1. The exp() was forgotten: `ratio = new_logp - old_logp`. Confirm: print the ratio before the first step of an
       update: it must be 1.

    ## What to try first
    `ratio = torch.exp(new_logp - old_logp)`.

    ## When it is fine
    Never: where the logarithm itself is bounded, its bounds lie around 0.

    ## References
    Schulman et al., *Proximal Policy Optimization Algorithms* (2017), equation 7.
    """

    code: ClassVar[str] = "POL627"
    name: ClassVar[str] = "log-ratio-clipped-around-one"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Source"

    usual: float = 0.2  # clip range that is taken where the text names none

    def check(self, evidence: Source) -> Iterator[Finding]:
        for call in calls(evidence):
            given = clamped(evidence, call)
            if given is None or given[1] is None or given[2] is None or exponent(evidence, given[0]) is not None:
                continue
            if new_and_old(evidence, given[0]) is None:
                continue
            low, high = (bound_around_one(evidence, each, self.usual) for each in given[1:])
            if low is None or high is None or not 0 < low < 1 < high < 3:
                continue
            difference = evidence.quoted(given[0])
            yield self.finding(
                f"the logarithm of the ratio is clipped to [{low:.4g}, {high:.4g}]: exp() is missing",
                where=evidence.at(call),
                seen=evidence.quoted(call),
                expected="the ratio itself, exp(new - old), which begins at 1",
                help=f"torch.exp({difference})",
                confidence=0.93,
            )
