"""An array with a reversed axis is to become a tensor."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.signs import operands_told
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class FlippedArrayConverted(Rule):
    """An array with a reversed axis is to become a tensor.

    ## What it checks
    An array was refused because it runs backwards through memory.

    ## Why it matters
    NumPy flips without copying; PyTorch knows no negative strides.

    ## Likely causes
    1. An image was flipped, `obs[::-1]`, or its channels reversed, `obs[..., ::-1]`. Confirm: look at the lines before.
    2. Returns were computed backwards and the list of them turned round. Confirm: the same.
    3. A wrapper or OpenCV did it. Confirm: print `obs.strides`.

    ## What to try first
    Write `.copy()` behind the flip.

    ## When it is fine
    Never: the program has ended.

    ## References
    PyTorch, `torch.from_numpy`.
    """

    code: ClassVar[str] = "PRE430"
    name: ClassVar[str] = "flipped-array-converted"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return evidence.says("At least one stride in the given numpy array is negative", "negative strides are not")

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        yield self.finding(
            "an array with a reversed axis was to become a tensor",
            where=evidence.where,
            seen=f"{evidence.said}{operands_told(evidence)}",
            expected="an array that runs forwards through memory",
            help="write .copy() behind the flip, or np.ascontiguousarray(...)",
            confidence=0.95,
        )
