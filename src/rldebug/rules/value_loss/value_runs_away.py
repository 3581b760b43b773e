"""Values move further and further away from their targets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.ladder import Ladder
from rldebug.evidence.ladder_signs import runs_away, shown
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class ValueRunsAway(Rule):
    """Values move further and further away from their targets.

    ## What it checks
    On the first rung the value falls below what is right, by more the longer it trains.

    ## Why it matters
    The critic is pushed off its target instead of towards it: sooner or later everything is NaN.

    ## Likely causes
    1. The value loss has the wrong sign in the sum, or is maximised. Confirm: print the value loss of ten updates in
       a row; it must fall.
    2. The error is added where it should be subtracted (`value + target`). Confirm: print value, target and loss of
       one row.

    ## What to try first
    Print the value loss of ten updates in a row.

    ## When it is fine
    Never: the right value is a constant.

    ## References
    Jones, *Debugging RL, Without the Agonizing Pain* (probe environments).
    """

    code: ClassVar[str] = "VAL012"
    name: ClassVar[str] = "value-runs-away"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Ladder"
    follows: ClassVar[tuple[str, ...]] = ("OPT010",)

    def check(self, evidence: Ladder) -> Iterator[Finding]:
        for name in ("constant-reward", "observed-reward", "delayed-reward"):
            rung = evidence[name]
            if rung.outcome == "failed" and runs_away(rung) < 0:
                yield self.finding(
                    "values move away from their targets, further and further",
                    **shown(rung),
                    help="print the value loss of ten updates in a row: it must fall",
                    confidence=0.9,
                )
                return
