"""Data is to take a shape of another number of elements."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.place import place
from rldebug.evidence.crashes.signs import operands_told, parameters_meet, reshape_refused
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class ReshapedToAnotherSize(Rule):
    """Data is to take a shape of another number of elements.

    ## What it checks
    `view`, `reshape` or `split` was asked for a shape that does not hold as many elements as there are.

    ## Why it matters
    The program counts its data otherwise than they come: fewer environments, a shorter rollout, a last minibatch.

    ## Likely causes
    1. The last rollout or minibatch is shorter than the others. Confirm: divide the number of elements by the size of a
       row.
    2. The number of environments or steps in the shape is not that of the data. Confirm: compare the shape with both.
    3. Each row has other numbers than is thought: one action number for several, a frame more. Confirm: the same.

    ## What to try first
    Write -1 for the number of rows, and take the others from the data: `x.reshape(-1, *x.shape[2:])`.

    ## When it is fine
    Never: the program has ended.

    ## References
    PyTorch, `Tensor.reshape`.
    """

    code: ClassVar[str] = "BUF431"
    name: ClassVar[str] = "reshaped-to-another-size"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return (
            reshape_refused(evidence)
            and not parameters_meet(evidence)
            and place(evidence) not in ("network", "preprocessing", "environment")
        )

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        yield self.finding(
            "data was to take a shape of another number of elements",
            where=evidence.where,
            seen=f"{evidence.said}{operands_told(evidence)}",
            expected="a shape of as many elements as there are",
            help="take the sizes from the data, x.reshape(-1, *x.shape[2:]), and look at what the last rollout or "
            "minibatch lacks",
            confidence=0.75,
        )
