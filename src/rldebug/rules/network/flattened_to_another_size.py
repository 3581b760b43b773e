"""A network flattens to another size than arrives."""

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
class FlattenedToAnotherSize(Rule):
    """A network flattens to another size than arrives.

    ## What it checks
    `view` or `reshape` inside a network was asked for a shape that does not hold as many elements as there are.

    ## Why it matters
    A fixed size inside the network fits one size of input only.

    ## Likely causes
    1. The size after the convolutions was computed for another image. Confirm: print the shape before this line.
    2. The network is given one observation and the shape asks for a batch, or the other way round. Confirm: the same.
    3. The number of heads, agents or steps in the shape is not that of the input. Confirm: the same.

    ## What to try first
    Write `x.flatten(1)`, or -1 for the axis that may change.

    ## When it is fine
    Never: the program has ended.

    ## References
    PyTorch, `torch.nn.Flatten`.
    """

    code: ClassVar[str] = "NET431"
    name: ClassVar[str] = "flattened-to-another-size"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return (
            reshape_refused(evidence)
            and not parameters_meet(evidence)
            and place(evidence) in ("network", "preprocessing")
        )

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        yield self.finding(
            "the network flattens to another size than arrives",
            where=evidence.where,
            seen=f"{evidence.said}{operands_told(evidence)}",
            expected="a shape of as many elements as arrive",
            help="write x.flatten(1), or -1 for the axis that may change, and compute the width by a forward pass of "
            "one observation",
            confidence=0.8,
        )
