"""A tensor shares memory with an array that may not be written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.signs import operands_told
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class ArrayNotWritable(Rule):
    """A tensor shares memory with an array that may not be written.

    ## What it checks
    PyTorch warned that a tensor was made from an array that is not writable.

    ## Why it matters
    The tensor and the array are one memory. Whatever is written into the tensor changes the stored observation, or the
    frame that the environment still holds.

    ## Likely causes
    1. The array is a view of a buffer, of shared memory of a vector environment, or was made by `np.frombuffer` or
       `np.broadcast_to`. Confirm: `array.flags`.
    2. An environment marks its observations as read-only. Confirm: the same.

    ## What to try first
    Copy where the tensor is made: `torch.tensor(obs)`, or `torch.from_numpy(obs.copy())`.

    ## When it is fine
    When the tensor is only read, and no later than the array is changed.

    ## References
    PyTorch, `torch.from_numpy`.
    """

    code: ClassVar[str] = "PRE431"
    name: ClassVar[str] = "array-not-writable"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return evidence.says("The given NumPy array is not writ(e)?able")

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        yield self.finding(
            "a tensor shares memory with an array that may not be written",
            where=evidence.where,
            seen=f"{evidence.said}{operands_told(evidence)}",
            expected="a tensor of its own",
            help="copy: torch.tensor(obs), or torch.from_numpy(obs.copy())",
            confidence=0.8,
        )
