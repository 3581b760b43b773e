"""The bounds of the clipped ratio do not hold 1 between them."""

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
class ClipBoundsMissOne(Rule):
    """The bounds of the clipped ratio do not hold 1 between them.

    ## What it checks
    The bounds given to clamp() for a ratio exp(new - old), worked out with a clip range of 0.2 where the text names
    none: the lower must be below 1 and the upper above. `(-eps, eps)`, `(1 - eps, 1 - eps)` and swapped ones are not.
    Read from the source.

    ## Why it matters
    The ratio begins at 1. Bounds beside it cut every sample, so that the clipped part has no gradient, or one that
    pulls all ratios to one side.

    ## Likely causes
    1. A sign or the `1` is missing in one of the bounds. Confirm: print both.

    ## What to try first
    `torch.clamp(ratio, 1 - eps, 1 + eps)`.

    ## When it is fine
    Where it is not a ratio of probabilities.

    ## References
    Schulman et al., *Proximal policy optimization algorithms*.
    """

    code: ClassVar[str] = "POL623"
    name: ClassVar[str] = "clip-bounds-miss-one"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Source"
    explains: ClassVar[tuple[str, ...]] = ("POL304", "POL006", "POL390")

    usual: float = 0.2  # clip range that is taken where the text names none

    def check(self, evidence: Source) -> Iterator[Finding]:
        for call in calls(evidence):
            given = clamped(evidence, call)
            inner = None if given is None else exponent(evidence, given[0])
            if given is None or inner is None or given[1] is None or given[2] is None:
                continue
            if new_and_old(evidence, inner) is None:
                continue
            low, high = (bound_around_one(evidence, each, self.usual) for each in given[1:])
            if low is None or high is None or low < 1 < high:
                continue
            yield self.finding(
                f"the ratio is clipped to [{low:.4g}, {high:.4g}], which does not hold the 1 that it begins at",
                where=evidence.at(call),
                seen=evidence.quoted(call),
                expected="a lower bound below 1 and an upper bound above it",
                help=f"torch.clamp({evidence.quoted(given[0])}, 1 - eps, 1 + eps)",
                confidence=0.92,
            )
