"""Rows that are put together have different shapes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.place import place
from rldebug.evidence.crashes.signs import operands_told, reset_kept_whole
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class RowsOfDifferentShape(Rule):
    """Rows that are put together have different shapes.

    ## What it checks
    Stacking or concatenating failed because the parts differ in shape, or have no axis.

    ## Why it matters
    A batch is made of rows of one shape.

    ## Likely causes
    1. Episodes of different lengths are stacked. Confirm: print the shapes of the parts.
    2. One row is a terminal or missing one, stored in another form. Confirm: the same.
    3. Scalars are concatenated: `torch.cat` needs an axis, `torch.stack` makes one. Confirm: the same.

    ## What to try first
    Print the set of the shapes of the parts.

    ## When it is fine
    Never: the program has ended.

    ## References
    PyTorch, `torch.stack`.
    """

    code: ClassVar[str] = "BUF405"
    name: ClassVar[str] = "rows-of-different-shape"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        uneven = evidence.says(
            "stack expects each tensor to be equal size",
            "inhomogeneous shape",
            "all input arrays must have the same shape",
            "zero-dimensional (tensor|arrays?).* cannot be concatenated",
            "all the input array(s| dimensions)",
            "Tensors must have same number of dimensions",
            "Sizes of tensors must match except in dimension",
            "expected sequence of length",
        )
        return (
            uneven
            and not reset_kept_whole(evidence)
            and place(evidence) not in ("environment", "network", "preprocessing")
        )

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        yield self.finding(
            "rows of different shape were to be put together",
            where=evidence.where,
            seen=f"{evidence.said}{operands_told(evidence)}",
            expected="rows of one shape",
            help=_SCALARS if evidence.says("zero-dimensional") else _ROWS,
            confidence=0.75,
        )


_SCALARS = "make a row of scalars with torch.stack: torch.cat needs an axis"
_ROWS = (
    "put episodes of different length end to end with np.concatenate or torch.cat, or pad them with pad_sequence; "
    "join only rows of the same steps"
)
