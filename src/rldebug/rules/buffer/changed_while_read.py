"""A collection changes while it is gone through."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.signs import operands_told
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class ChangedWhileRead(Rule):
    """A collection changes while it is gone through.

    ## What it checks
    A deque, dictionary or set was changed during an iteration over it.

    ## Why it matters
    Half of what is read is of before, half of after.

    ## Likely causes
    1. Another thread adds transitions while this one samples. Confirm: look for a thread that collects.
    2. The loop itself adds or removes. Confirm: the lines of its body.

    ## What to try first
    Go through a copy: `list(buffer)`; between threads, hold a lock in both.

    ## When it is fine
    Never: the program has ended.

    ## References
    Python, `collections.deque`; `threading.Lock`.
    """

    code: ClassVar[str] = "BUF452"
    name: ClassVar[str] = "changed-while-read"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return evidence.says(
            r"(deque|dictionary|[Ss]et|OrderedDict) (mutated|changed( size)?|keys changed) during iteration"
        )

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        kinds = ("deque", "dict", "set", "list")
        names = [name for name, fact in evidence.operands().items() if fact.get("type") in kinds]
        name = names[0] if names else "the collection"
        yield self.finding(
            f"{name} was changed while it was gone through",
            where=evidence.where,
            seen=f"{evidence.said}{operands_told(evidence)}",
            expected="one at a time: a reader or a writer",
            help=f"go through list({name if names else '…'}), and where another thread collects, hold one "
            "threading.Lock for both",
            confidence=0.9,
        )
