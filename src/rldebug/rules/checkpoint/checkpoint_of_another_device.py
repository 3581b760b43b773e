"""A checkpoint is of a device that is not there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class CheckpointOfAnotherDevice(Rule):
    """A checkpoint is of a device that is not there.

    ## What it checks
    `torch.load` was to put tensors back onto the GPU they were saved from, and there is none of that number.

    ## Why it matters
    Tensors remember their device. A policy that was trained on a GPU cannot be played on another machine.

    ## Likely causes
    1. `map_location` is missing where the file is loaded. Confirm: look at the line.
    2. Weights were saved from a later GPU of several. Confirm: the message names its number.

    ## What to try first
    Load with `map_location="cpu"`, and move the network afterwards.

    ## When it is fine
    Never: the program has ended.

    ## References
    PyTorch, `torch.load`: `map_location`.
    """

    code: ClassVar[str] = "CKP442"
    name: ClassVar[str] = "checkpoint-of-another-device"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return evidence.says("Attempting to deserialize object on (a )?(CUDA|MPS|\\w+) device")

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        yield self.finding(
            "the checkpoint is of a GPU that this machine does not have",
            where=evidence.where,
            seen=evidence.said,
            expected="a device that is there",
            help='load with torch.load(…, map_location="cpu"), then move the network: network.to(device)',
            confidence=0.95,
        )
