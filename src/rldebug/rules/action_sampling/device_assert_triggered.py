"""The GPU refused an index or a probability."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.signs import operands_told
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class DeviceAssertTriggered(Rule):
    """The GPU refused an index or a probability.

    ## What it checks
    The program ended with the GPU's `device-side assert triggered`.

    ## Why it matters
    The GPU works behind the program: the line in the traceback is often not the one at fault, and afterwards every use
    of the GPU fails.

    ## Likely causes
    1. An index is beyond the last row or output, in `gather`, an embedding or `one_hot`. Confirm: run on the CPU; it
       names the index.
    2. Probabilities are NaN or negative where an action is drawn. Confirm: the same.
    3. The target of a classification is no class. Confirm: the same.

    ## What to try first
    Run once on the CPU, or with `CUDA_LAUNCH_BLOCKING=1`: then the line is the right one, and the text says what it
    was.

    ## When it is fine
    Never: the program has ended.

    ## References
    PyTorch, *CUDA semantics*: asynchronous execution.
    """

    code: ClassVar[str] = "ACT430"
    name: ClassVar[str] = "device-assert-triggered"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return evidence.says("device-side assert triggered")

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        yield self.finding(
            "the GPU refused an index or a probability",
            where=evidence.where,
            seen=f"{evidence.said}{operands_told(evidence)}",
            expected="indices below the number of outputs, probabilities that are numbers",
            help="run once on the CPU or with CUDA_LAUNCH_BLOCKING=1: this line may come after the one at fault, an "
            "index out of range in gather or an embedding, or NaN where an action is drawn",
            confidence=0.7,
        )
