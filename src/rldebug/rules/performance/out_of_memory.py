"""The program runs out of memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crash_signs import operands_told
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class OutOfMemory(Rule):
    """The program runs out of memory.

    ## What it checks
    An allocation failed, on the GPU or in the process.

    ## Why it matters
    Either too much is asked for at once, or something is kept that should have been dropped.

    ## Likely causes
    1. Tensors are kept with their graph: losses that are summed for a log, log-probs in a list. Confirm: memory grows
       with every update; `.item()` or `.detach()` ends it.
    2. The replay buffer lies on the GPU, or holds images as floats. Confirm: compute its size.
    3. Batch, environments or horizon are too large. Confirm: halve them.

    ## What to try first
    Print the allocated memory after each update: does it grow, or is it too much from the start?

    ## When it is fine
    Where the machine is simply too small.

    ## References
    PyTorch, *CUDA semantics*: memory management.
    """

    code: ClassVar[str] = "PRF401"
    name: ClassVar[str] = "out-of-memory"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return evidence.is_a("OutOfMemoryError", "MemoryError") or evidence.says(
            "out of memory", "DefaultCPUAllocator: (can't|not enough)", "Unable to allocate"
        )

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        yield self.finding(
            "an allocation failed",
            where=evidence.where,
            seen=f"{evidence.said}{operands_told(evidence)}",
            expected="memory that stays the same from update to update",
            help="detach what is kept from one update to the next; then make batch or buffer smaller",
            confidence=0.85,
        )
