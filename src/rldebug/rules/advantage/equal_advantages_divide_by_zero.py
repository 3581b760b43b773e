"""Where all advantages are equal, the answer becomes NaN."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.ladder import Ladder
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class EqualAdvantagesDivideByZero(Rule):
    """Where all advantages are equal, the answer becomes NaN.

    ## What it checks
    On the first rung, where every step pays the same and all advantages come to be equal, what the network answers is
    NaN or infinite. For algorithms with a λ, whose policy learns from advantages.

    ## Why it matters
    It happens in every task sooner or later: in a batch without rewards, or with a critic that is right; and one NaN
    is enough.

    ## Likely causes
    1. Advantages are divided by their standard deviation without an epsilon. Confirm: print the deviation of the last
       batch before the NaN; it is 0.
    2. The deviation is that of a single row: the last minibatch has one. Confirm: print the sizes of minibatches.
    3. Something else divides by 0, or takes its logarithm. Confirm: run with
       `torch.autograd.set_detect_anomaly(True)`.

    ## What to try first
    Divide by `std + 1e-8`, and leave out normalising where a minibatch has one row.

    ## When it is fine
    Never.

    ## References
    See `nonfinite-advantage` and `advantage-constant`.
    """

    code: ClassVar[str] = "ADV010"
    name: ClassVar[str] = "equal-advantages-divide-by-zero"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Ladder"
    follows: ClassVar[tuple[str, ...]] = ("OPT010", "DIS010", "VAL012")

    def check(self, evidence: Ladder) -> Iterator[Finding]:
        rung = evidence["constant-reward"]
        if rung.outcome != "failed" or "not finite" not in rung.reason or "lam" not in evidence.declared:
            return
        yield self.finding(
            "where all advantages are equal, what the network answers becomes NaN or infinite",
            seen=f"rung {rung.number}, {rung.name}: {rung.reason}",
            expected="finite numbers, and a value of 1",
            help="print the standard deviation that advantages are divided by, and the sizes of minibatches",
            confidence=0.8,
        )
