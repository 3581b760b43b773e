"""A priority queue compares what it should only carry."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.signs import ordered_by_priority
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class QueueComparesTransitions(Rule):
    """A priority queue compares what it should only carry.

    ## What it checks
    Two entries of a heap or a sorted list had the same priority, and what follows it was compared.

    ## Why it matters
    Tuples are compared from the left. With equal priorities the next field decides, and arrays or dictionaries have
    no order.

    ## Likely causes
    1. Entries are `(priority, transition)`. Confirm: look at the `heappush`.
    2. Many new entries share one priority. Confirm: the same.

    ## What to try first
    Put a running number between: `(priority, next(counter), transition)`.

    ## When it is fine
    Never: the program has ended.

    ## References
    Python, `heapq`: priority queue implementation notes.
    """

    code: ClassVar[str] = "BUF454"
    name: ClassVar[str] = "queue-compares-transitions"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        unordered = evidence.says(
            r"'[<>]=?' not supported between instances of '(dict|[A-Z]\w*)' and '(dict|[A-Z]\w*)'",
            "truth value of an array|Boolean value of Tensor",
        )
        return unordered and ordered_by_priority(evidence)

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        yield self.finding(
            "two entries of the priority queue have the same priority, and their transitions were compared",
            where=evidence.where,
            seen=f"{evidence.said}, in `{evidence.at.expression if evidence.at else ''}`",
            expected="an order that never reaches the transition",
            help="store (priority, next(counter), transition), with counter = itertools.count()",
            confidence=0.9,
        )
