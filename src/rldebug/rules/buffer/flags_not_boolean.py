"""Flags of a batch are stored as numbers and used as a mask."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.signs import mask_refused, one_axis, operands_told
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class FlagsNotBoolean(Rule):
    """Flags of a batch are stored as numbers and used as a mask.

    ## What it checks
    `masked_fill` or `where` refused its mask, which is of numbers; it has one flag for each row.

    ## Why it matters
    Flags come out of the buffer in the dtype of the array that they were stored in.

    ## Likely causes
    1. The array of flags was made with the default dtype, float32 or float64. Confirm: print the dtype of the flags of
       a batch.
    2. All of a batch is cast to floats at once. Confirm: the same.

    ## What to try first
    Store flags in an array of dtype bool, or write `done.bool()` where they are a mask.

    ## When it is fine
    Never: the program has ended.

    ## References
    PyTorch, `Tensor.masked_fill`.
    """

    code: ClassVar[str] = "BUF433"
    name: ClassVar[str] = "flags-not-boolean"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return mask_refused(evidence) and one_axis(evidence)

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        yield self.finding(
            "flags that are stored as numbers were used as a mask",
            where=evidence.where,
            seen=f"{evidence.said}{operands_told(evidence)}",
            expected="a mask of dtype bool",
            help="store flags with dtype=bool, or write done.bool() where they are a mask",
            confidence=0.85,
        )
