"""On a problem of one step the network's output becomes NaN or infinite."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.ladder import Ladder
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class NonfiniteOnAProbe(Rule):
    """On a problem of one step the network's output becomes NaN or infinite.

    ## What it checks
    What the algorithm answers on a rung (values, action values, policy) is not finite.

    ## Why it matters
    Rewards here are of size 1 and observations of zeros and ones: no data of a real problem is as kind.

    ## Likely causes
    1. A logarithm or a division of 0: of a probability, of a standard deviation over a single row. Confirm: run with
       `torch.autograd.set_detect_anomaly(True)`.
    2. Values run away until they overflow: a loss with the wrong sign, or targets that feed on themselves. Confirm:
       print the mean value after each update; does it double?

    ## What to try first
    Print loss and gradient norm of each update; look at the first that is not finite.

    ## When it is fine
    Never.

    ## References
    See `values-run-past-the-end` and `value-runs-away`.
    """

    code: ClassVar[str] = "NET010"
    name: ClassVar[str] = "nonfinite-on-a-probe"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Ladder"
    follows: ClassVar[tuple[str, ...]] = ("OPT010", "DIS010", "VAL012", "ADV010")

    def check(self, evidence: Ladder) -> Iterator[Finding]:
        for rung in evidence.rungs:
            if rung.outcome == "failed" and "not finite" in rung.reason:
                yield self.finding(
                    "what the network answers is NaN or infinite",
                    seen=f"rung {rung.number}, {rung.name}: {rung.reason}",
                    expected="finite numbers",
                    help="print loss and gradient norm of each update, and look at the first that is not finite",
                    confidence=0.9,
                )
                return
