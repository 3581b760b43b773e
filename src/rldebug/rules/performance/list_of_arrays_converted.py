"""A tensor is made from a list of arrays, element by element."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.signs import operands_told
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class ListOfArraysConverted(Rule):
    """A tensor is made from a list of arrays, element by element.

    ## What it checks
    PyTorch warned that a tensor is made from a list of NumPy arrays.

    ## Why it matters
    Each number is read by itself: a batch takes a hundred times as long.

    ## Likely causes
    1. `torch.tensor(batch)` of a list of observations. Confirm: time this line.

    ## What to try first
    Write `torch.as_tensor(np.array(batch))`, or `torch.from_numpy(np.stack(batch))`.

    ## When it is fine
    When it happens once, not in each step.

    ## References
    PyTorch, `torch.as_tensor`.
    """

    code: ClassVar[str] = "PRF430"
    name: ClassVar[str] = "list-of-arrays-converted"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return evidence.says("Creating a tensor from a list of numpy.ndarrays is extremely slow")

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        yield self.finding(
            "a tensor was made from a list of arrays, number by number",
            where=evidence.where,
            seen=f"{evidence.said}{operands_told(evidence)}",
            expected="one array, turned into a tensor at once",
            help="write torch.as_tensor(np.array(batch))",
            confidence=0.9,
        )
