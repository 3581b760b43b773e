"""An operation does not exist in half precision."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.signs import operands_told
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class PrecisionWithoutOperation(Rule):
    """An operation does not exist in half precision.

    ## What it checks
    PyTorch has no such operation for half precision on this device.

    ## Why it matters
    Half precision is made for GPUs; on a CPU and for matrix decompositions much of it is missing.

    ## Likely causes
    1. The network was made half with `.half()` and runs on a CPU. Confirm: print device and dtype of a parameter.
    2. A step that needs float32, as sampling, a Cholesky or a solve, runs inside autocast or on half data. Confirm: the
       same.

    ## What to try first
    Keep the network in float32 and use `torch.autocast`; cast with `.float()` where an action is drawn or a loss
    computed.

    ## When it is fine
    Never: the program has ended.

    ## References
    PyTorch, *Automatic mixed precision*.
    """

    code: ClassVar[str] = "NET432"
    name: ClassVar[str] = "precision-without-operation"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return evidence.says(r"not implemented for '(Half|BFloat16|Float8\\w*)'")

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        yield self.finding(
            "an operation does not exist in half precision",
            where=evidence.where,
            seen=f"{evidence.said}{operands_told(evidence)}",
            expected="float32 for this operation",
            help="write .float() before it; keep the network in float32 and use torch.autocast on a GPU",
            confidence=0.9,
        )
