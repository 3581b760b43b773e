"""An item is taken from a queue that is empty."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.signs import operands_told
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class TakenFromEmpty(Rule):
    """An item is taken from a queue that is empty.

    ## What it checks
    `pop` or `popleft` was asked of a list or deque without items.

    ## Why it matters
    What is consumed has to be produced first, and once for each time.

    ## Likely causes
    1. The n-step window, the frame stack or the list of episodes is emptied at an end and read before it is filled.
       Confirm: print its length at a reset.
    2. Two places take from it. Confirm: look for the other `pop`.

    ## What to try first
    Test its length first, and see that a reset fills it again.

    ## When it is fine
    Never: the program has ended.

    ## References
    Python, `collections.deque`.
    """

    code: ClassVar[str] = "BUF451"
    name: ClassVar[str] = "taken-from-empty"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return evidence.is_a("IndexError", "KeyError") and evidence.says("pop from (an )?empty")

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        found = re.search(r"([\w.]+)\.(?:pop|popleft|popitem)\(", evidence.at.expression) if evidence.at else None
        name = found[1] if found else "it"
        yield self.finding(
            f"{name} is empty",
            where=evidence.where,
            seen=f"{evidence.said}{operands_told(evidence)}",
            expected="an item for each that is taken",
            help=f"write if {name}: before it, and fill it again at each reset",
            confidence=0.9,
        )
