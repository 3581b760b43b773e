"""The buffer is written or read beyond its end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.place import place
from rldebug.evidence.crashes.signs import operands_told
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class WrittenPastTheEnd(Rule):
    """The buffer is written or read beyond its end.

    ## What it checks
    An index into a buffer is beyond its length.

    ## Why it matters
    The position in a buffer of fixed size has to begin anew, or the writing to stop.

    ## Likely causes
    1. The position is not taken modulo the capacity, or not set back after an update. Confirm: print it beside the
       capacity.
    2. A batch draws indices up to the capacity and one more. Confirm: print the greatest index.
    3. More steps are stored in a rollout than it was made for, as when the last value is added. Confirm: the same.

    ## What to try first
    Print the position and the length of the buffer on the line before.

    ## When it is fine
    Never: the program has ended.

    ## References
    NumPy, *Indexing*.
    """

    code: ClassVar[str] = "BUF407"
    name: ClassVar[str] = "written-past-the-end"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return (
            evidence.is_a("IndexError")
            and evidence.graph.get("fault") != "place"  # drawn at random, beyond what is filled
            and evidence.says("out of bounds", "index out of range", "out of range")
            and not evidence.says("Dimension out of range", r"axis -?\d+ is out of bounds for array of dimension")
            and place(evidence) == "buffer"
        )

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        yield self.finding(
            "the buffer was used beyond its end",
            where=evidence.where,
            seen=f"{evidence.said}{operands_told(evidence)}",
            expected="an index below the length of the buffer",
            help="take the position modulo the capacity, and set it back after each update",
            confidence=0.85,
        )
