"""A logarithm or root is taken of what has none."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class LogarithmOfZero(Rule):
    """A logarithm or root is taken of what has none.

    ## What it checks
    `math.log` of zero or less, or `math.sqrt` below zero.

    ## Why it matters
    A count that is still zero has no bonus; a probability of zero has no log.

    ## Likely causes
    1. A count-based bonus, as UCB, is asked before every action was tried. Confirm: print the counts.
    2. The log of a probability that has become zero. Confirm: print it.
    3. A variance became negative by rounding. Confirm: the same.

    ## What to try first
    Try each action once first, or add a small constant.

    ## When it is fine
    Never: the program has ended.

    ## References
    Auer et al. 2002, *Finite-time Analysis of the Multiarmed Bandit Problem*; Python, `math.log`.
    """

    code: ClassVar[str] = "EXP451"
    name: ClassVar[str] = "logarithm-of-zero"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return evidence.is_a("ValueError") and evidence.says(
            "math domain error", "expected a (positive|nonnegative) (input|number)"
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
            "a logarithm or root was taken of what has none",
            where=evidence.where,
            seen=f"{evidence.said}, in `{evidence.at.expression if evidence.at else ''}`"
            + (f"; {', '.join(numbers[:4])}" if numbers else ""),
            expected="a positive number under log, none below zero under sqrt",
            help="try every action once before its bonus is computed, or take max(value, 1e-8)",
            confidence=0.85,
        )
