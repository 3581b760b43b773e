"""A mask picks from data of another length."""

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
class MaskOfAnotherLength(Rule):
    """A mask picks from data of another length.

    ## What it checks
    Indexing with a mask failed: it has another length than what it picks from.

    ## Why it matters
    The mask belongs to other steps than the data.

    ## Likely causes
    1. The mask is that of the minibatch and the data are those of the rollout, or the other way round. Confirm: print
       both shapes.
    2. Rows were left out of the one and not of the other: final states, padding. Confirm: the same.

    ## What to try first
    Print the shapes of both on the line before.

    ## When it is fine
    Never: the program has ended.

    ## References
    PyTorch, *Tensor indexing*; NumPy, *Boolean array indexing*.
    """

    code: ClassVar[str] = "BUF432"
    name: ClassVar[str] = "mask-of-another-length"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return (
            evidence.says(r"The shape of the mask \[.*\] at index", "boolean index did not match indexed array")
            and place(evidence) != "environment"
        )

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        yield self.finding(
            "a mask picks from data of another length",
            where=evidence.where,
            seen=f"{evidence.said}{operands_told(evidence)}",
            expected="a mask of the shape of the data",
            help="make the mask of the very rows it picks from; index both alike",
            confidence=0.85,
        )
