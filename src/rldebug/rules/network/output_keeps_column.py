"""A network's output of one column meets a row of numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.signs import column_kept, operands_told
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class OutputKeepsColumn(Rule):
    """A network's output of one column meets a row of numbers.

    ## What it checks
    Shapes did not fit, and one of them is the other with an axis of length 1 at its end: (n, 1) and (n,).

    ## Why it matters
    Where lengths happen to agree the same mistake raises nothing: (n, 1) and (n,) broadcast to (n, n), and the mean is
    taken over all pairs.

    ## Likely causes
    1. The value head gives (n, 1) and is not squeezed. Confirm: print the shape of what the network returns.
    2. One side was stored with a last axis and the other without. Confirm: print both shapes.

    ## What to try first
    Write `.squeeze(-1)` where the network returns its value.

    ## When it is fine
    Never: the program has ended.

    ## References
    PyTorch, *Broadcasting semantics*.
    """

    code: ClassVar[str] = "NET401"
    name: ClassVar[str] = "output-keeps-column"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return column_kept(evidence) and not evidence.inside("gymnasium")

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        yield self.finding(
            "a column meets a row",
            where=evidence.where,
            seen=f"{evidence.said}{operands_told(evidence)}",
            expected="two tensors of the same shape",
            help="squeeze the last axis of the network's output: .squeeze(-1)",
            confidence=0.8,
        )
