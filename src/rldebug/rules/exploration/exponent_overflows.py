"""An exponential is beyond what a number can hold."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class ExponentOverflows(Rule):
    """An exponential is beyond what a number can hold.

    ## What it checks
    `math.exp`, a power, or the conversion of its result overflowed.

    ## Why it matters
    A schedule that should decay grows when its sign is wrong; a log-ratio is exponentiated before it is limited.

    ## Likely causes
    1. The exponent of a decay has the wrong sign: `exp(step / decay)`. Confirm: print the exponent.
    2. A ratio is computed as `exp(new - old)` of policies far apart. Confirm: the same.

    ## What to try first
    Print the exponent; it should be negative in a decay.

    ## When it is fine
    Never: the program has ended.

    ## References
    Python, `math.exp`.
    """

    code: ClassVar[str] = "EXP450"
    name: ClassVar[str] = "exponent-overflows"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return evidence.is_a("OverflowError") and evidence.says(
            "math range error", "Numerical result out of range", "int too large to convert to float"
        )

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        numbers = [
            f"{name} is {fact['value']}"
            for name, fact in evidence.operands().items()
            if fact["kind"] == "number" and not isinstance(fact["value"], bool | None)
        ]
        yield self.finding(
            "an exponential is beyond what a number can hold",
            where=evidence.where,
            seen=f"{evidence.said}, in `{evidence.at.expression if evidence.at else ''}`"
            + (f"; {', '.join(numbers[:4])}" if numbers else ""),
            expected="a negative exponent in a decay, and a limited one in a ratio",
            help="see the sign of the exponent: math.exp(-step / decay); limit a log-ratio before exp()",
            confidence=0.85,
        )
