"""Prediction and target of the value loss differ in dtype."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.signs import operands_told
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class TargetDtypeDiffers(Rule):
    """Prediction and target of the value loss differ in dtype.

    ## What it checks
    The gradient of a loss failed because one of the two was of another dtype: `Found dtype Double but expected Float`.

    ## Why it matters
    NumPy computes in float64, networks in float32. The sum of both is float64, and its gradient does not fit the
    network.

    ## Likely causes
    1. Rewards or returns come from NumPy as float64 and were not cast. Confirm: print the dtype of the target.
    2. The target is of integers: class labels where numbers are expected. Confirm: the same.

    ## What to try first
    Cast rewards and returns to float32 where they become tensors.

    ## When it is fine
    Never: the program has ended.

    ## References
    PyTorch, *Tensor attributes*: type promotion.
    """

    code: ClassVar[str] = "VAL402"
    name: ClassVar[str] = "target-dtype-differs"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        # Outside of a loss it is an operation in place on integers.
        cast = evidence.says(r"result type \w+ can't be cast to the desired output type")
        return evidence.says(r"Found dtype \w+ but expected \w+") or (cast and evidence.inside("torch.nn.functional"))

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        yield self.finding(
            "prediction and target of a loss differ in dtype",
            where=evidence.where,
            seen=f"{evidence.said}{operands_told(evidence)}",
            expected="float32 on both sides",
            help="cast rewards, returns or targets with .float() where they are turned into tensors",
            confidence=0.8,
        )
