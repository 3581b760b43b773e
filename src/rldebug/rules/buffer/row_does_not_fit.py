"""What is stored has another shape than its place in the buffer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.place import place
from rldebug.evidence.crashes.signs import column_kept, observation_unlike_space, operands_told, writes
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class RowDoesNotFit(Rule):
    """What is stored has another shape than its place in the buffer.

    ## What it checks
    Writing a row failed: its shape is not that of the place it is written to.

    ## Why it matters
    The buffer was made for other data than it is given.

    ## Likely causes
    1. The buffer is made for one environment, and fed by several, or the other way round. Confirm: print both shapes.
    2. Two arguments are in the wrong order. Confirm: compare the call with the parameters of the method.
    3. The place was made for another shape: (n,) and (n, 1). Confirm: the same.

    ## What to try first
    Print the shape of each thing that is stored, and of the place it goes to.

    ## When it is fine
    Never: the program has ended.

    ## References
    NumPy, *Broadcasting*.
    """

    code: ClassVar[str] = "BUF403"
    name: ClassVar[str] = "row-does-not-fit"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        written = evidence.says(
            "could not broadcast input array",
            "expanded size of the tensor",
            "the number of sizes provided",
            "setting an array element with a sequence",
            r"shape mismatch: value (tensor|array)",
        )
        return (
            written
            and writes(evidence)
            and place(evidence) != "environment"
            and not column_kept(evidence)
            and not observation_unlike_space(evidence)
        )

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        yield self.finding(
            "a row does not fit its place in the buffer",
            where=evidence.where,
            seen=f"{evidence.said}{operands_told(evidence)}",
            expected="rows of the shape that the buffer was made for",
            help="print the shape of each thing that is stored and of the place it goes to",
            confidence=0.75,
        )
