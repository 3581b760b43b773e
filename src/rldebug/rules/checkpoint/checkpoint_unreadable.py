"""A checkpoint cannot be read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class CheckpointUnreadable(Rule):
    """A checkpoint cannot be read.

    ## What it checks
    Loading a file failed: it is not there, not whole, of another device, or holds more than weights.

    ## Why it matters
    The run cannot be resumed, or the network cannot be evaluated.

    ## Likely causes
    1. The file is elsewhere, or was never written. Confirm: list the folder.
    2. It was saved on a GPU and is loaded without `map_location`. Confirm: the message says so.
    3. It holds other objects than tensors, and `torch.load` reads only weights since 2.6. Confirm: the same.
    4. The program was stopped while it was written. Confirm: its size.

    ## What to try first
    Load with `map_location="cpu"`; save plain `state_dict()`s.

    ## When it is fine
    Never: the program has ended.

    ## References
    PyTorch, `torch.load`.
    """

    code: ClassVar[str] = "CKP402"
    name: ClassVar[str] = "checkpoint-unreadable"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        device = evidence.says(
            "Weights only load failed",
            "Attempting to deserialize object on a CUDA device",
            "PytorchStreamReader failed",
        )
        missing = evidence.is_a("FileNotFoundError", "UnpicklingError", "EOFError") and evidence.inside(
            "torch.serialization", "pickle", "zipfile"
        )
        return device or missing

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        yield self.finding(
            "a checkpoint could not be read",
            where=evidence.where,
            seen=evidence.said,
            expected="a whole file of weights, loaded onto a device that is there",
            help='save plain state_dict()s, and load them with map_location="cpu"',
            confidence=0.9,
        )
