"""A number is stored that its dtype cannot hold."""

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
class ValueDoesNotFitDtype(Rule):
    """A number is stored that its dtype cannot hold.

    ## What it checks
    Writing into an array of integers failed: the number is negative, too great, or no number at all.

    ## Why it matters
    Where no error is raised, numbers wrap round: −1 is stored as 255.

    ## Likely causes
    1. Rewards or observations go into an array of bytes that was meant for images. Confirm: print the dtype of the
       array.
    2. What is stored is NaN or infinite. Confirm: print it.

    ## What to try first
    Store rewards as float32; keep uint8 for images.

    ## When it is fine
    Never: the program has ended.

    ## References
    NumPy, *Data types*: overflow.
    """

    code: ClassVar[str] = "BUF404"
    name: ClassVar[str] = "value-does-not-fit-dtype"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return (
            evidence.says(
                "out of bounds for (u?int|uint)\\d",
                "cannot convert float (NaN|infinity) to integer",
                "value cannot be converted to type",
            )
            and place(evidence) == "buffer"
        )

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        yield self.finding(
            "a number was stored that its dtype cannot hold",
            where=evidence.where,
            seen=f"{evidence.said}{operands_told(evidence)}",
            expected="an array of floats for numbers of any size",
            help="store rewards and values as float32, and keep uint8 for images",
            confidence=0.9,
        )
