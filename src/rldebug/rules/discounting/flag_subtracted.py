"""A flag is subtracted, which has no minus."""

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
class FlagSubtracted(Rule):
    """A flag is subtracted, which has no minus.

    ## What it checks
    `1 - done` failed: the flag is of dtype bool.

    ## Why it matters
    The return of an ended episode is cut by the factor 1 − done, and a flag is no number.

    ## Likely causes
    1. Flags are stored as bool, or come from `terminated | truncated`. Confirm: print their dtype.

    ## What to try first
    Write `1 - done.float()` for the factor, `~done` for the mask.

    ## When it is fine
    Never: the program has ended.

    ## References
    PyTorch, *Tensor attributes*; NumPy, `numpy.subtract`.
    """

    code: ClassVar[str] = "DIS431"
    name: ClassVar[str] = "flag-subtracted"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return (
            evidence.says(
                "(Subtraction|Negation), the `-` operator, .*bool tensor",
                "numpy boolean (subtract|negative), the `-` operator",
            )
            and place(evidence) != "environment"
        )

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        yield self.finding(
            "a flag was subtracted",
            where=evidence.where,
            seen=f"{evidence.said}{operands_told(evidence)}",
            expected="a number, 0 or 1",
            help="write 1 - done.float() (NumPy: 1 - done.astype(np.float32)) for the factor, ~done for the mask",
            confidence=0.9,
        )
