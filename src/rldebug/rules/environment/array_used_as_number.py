"""Several numbers are used as if they were one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.signs import operands_told
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class ArrayUsedAsNumber(Rule):
    """Several numbers are used as if they were one.

    ## What it checks
    A tensor or array of more than one element was to become a number of Python, or an index.

    ## Why it matters
    A vector environment gives one reward, one flag and takes one action for each of its environments; a loss of each
    sample is no loss yet.

    ## Likely causes
    1. `float(reward)`, `action.item()` or `int(action)` with several environments. Confirm: print the shape.
    2. A loss or log-prob is not reduced before it is logged. Confirm: the same.
    3. A list of tensors is turned into one with `torch.tensor`; it needs `torch.stack`. Confirm: look at the line.

    ## What to try first
    Index the one that is meant, reduce with `.mean()` or `.sum()`, or keep the array with `.tolist()`.

    ## When it is fine
    Never: the program has ended.

    ## References
    PyTorch, `Tensor.item`; Gymnasium, `VectorEnv.step`.
    """

    code: ClassVar[str] = "ENV430"
    name: ClassVar[str] = "array-used-as-number"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return evidence.says(
            "only one element tensors can be converted to Python scalars",
            r"a Tensor with \d+ elements cannot be converted to Scalar",
            "only (0-dimensional|length-1|size-1) arrays can be converted to Python scalars",
            "can only convert an array of size 1 to a Python scalar",
            "only integer tensors of a single element can be converted to an index",
            "only integer scalar arrays can be converted to a scalar index",
        )

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        yield self.finding(
            "several numbers were used as one",
            where=evidence.where,
            seen=f"{evidence.said}{operands_told(evidence)}",
            expected="one number",
            help="index the one that is meant, reduce with .mean() or .sum(), or keep them all with .tolist(); a list "
            "of tensors is put together by torch.stack",
            confidence=0.75,
        )
