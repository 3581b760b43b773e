"""A mean or maximum is taken of nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.signs import operands_told
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class StatisticOfNothing(Rule):
    """A mean or maximum is taken of nothing.

    ## What it checks
    A statistic was computed of an empty list or array, or a sum divided by its length 0.

    ## Why it matters
    Where no episode has ended yet there is no mean return.

    ## Likely causes
    1. The log is written before the first episode has ended. Confirm: print the length of the list.
    2. Episodes are longer than the interval between two logs. Confirm: the same.
    3. The list is emptied after each log. Confirm: look for `clear()`.

    ## What to try first
    Log only when the list holds something.

    ## When it is fine
    Never: the program has ended.

    ## References
    Python, `statistics.mean`; NumPy, `mean`.
    """

    code: ClassVar[str] = "EVA450"
    name: ClassVar[str] = "statistic-of-nothing"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        if evidence.is_a("ZeroDivisionError"):
            empty = any(
                fact.get("kind") == "collection" and fact["length"] == 0 for fact in evidence.operands().values()
            )
            return empty or bool(evidence.at and "len(" in evidence.at.expression)
        return evidence.says(
            "requires at least one data point|no (mean|median|mode) for empty data",
            r"(max|min)\(\) (arg is an empty sequence|iterable argument is empty)",
            "zero-size array to reduction operation",
            "attempt to get arg(max|min) of an empty sequence",
            "Mean of empty slice",
        )

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        empty = [
            name for name, fact in evidence.operands().items() if fact.get("length") == 0 or 0 in fact.get("shape", [])
        ]
        name = empty[0] if empty else ""
        yield self.finding(
            f"{name or 'what a statistic is taken of'} is empty",
            where=evidence.where,
            seen=f"{evidence.said}{operands_told(evidence)}",
            expected="at least one episode, or one number",
            help=f"write if len({name or 'returns'}): before it; where no episode has ended there is nothing to log",
            confidence=0.9,
        )
