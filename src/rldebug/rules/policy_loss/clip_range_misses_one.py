"""The ratio is clipped to a range that does not hold 1."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.surrogates import surrogates
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ClipRangeMissesOne(Rule):
    """The ratio is clipped to a range around something else than 1.

    ## What it checks
    The bounds that the ratio of a surrogate is clamped to, as they are in the graph of the loss: 1 must lie
    between them.

    ## Why it matters
    A policy that has not changed has a ratio of 1. If that is outside of the range, rows are clipped before anything
    was learned from them, and half of them have no gradient.

    ## Likely causes
    1. `clamp(ratio, -eps, eps)` or `clamp(ratio, 0, eps)`: the 1 ± was forgotten. Confirm: read the line.
    2. The bounds were swapped. Confirm: the lower one is larger.

    ## What to try first
    `ratio.clamp(1 - eps, 1 + eps)`.

    ## When it is fine
    Bounds on one side only are not judged.

    ## References
    Schulman et al., *Proximal Policy Optimization Algorithms* (2017).
    """

    code: ClassVar[str] = "POL304"
    name: ClassVar[str] = "clip-range-misses-one"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"

    losses: int = 2  # with a clipped ratio

    def check(self, evidence: Script) -> Iterator[Finding]:
        clipped = [each for each in surrogates(evidence) if each.ratio is not None and each.term.get("clip")]
        if len(clipped) < self.losses:
            raise NotEnough(f"{len(clipped)} losses with a clipped ratio, needs {self.losses}")
        bad = [each for each in clipped if not _holds_one(*each.term["clip"])]
        if len(bad) < 0.9 * len(clipped):
            return
        low, high = bad[0].term["clip"]
        yield self.finding(
            "the ratio is clipped to a range that does not hold 1",
            where=bad[0].term.where,
            seen=f"bounds {low} and {high} in {len(bad)} of {len(clipped)} losses",
            expected="1 − ε and 1 + ε",
            help="clamp the ratio between 1 - eps and 1 + eps",
            confidence=0.97,
        )


def _holds_one(low: float | None, high: float | None) -> bool:
    # A number per row, or a bound on one side: not known.
    return (low is None or low <= 1.0) and (high is None or high >= 1.0)
