"""A checkpoint is loaded without saying onto which device."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.names import argument, library, method
from rldebug.syntax.places import calls


@dataclass(frozen=True, kw_only=True)
class CheckpointTiedToItsDevice(Rule):
    """A checkpoint is loaded without saying onto which device.

    ## What it checks
    `torch.load(…)` without `map_location`, in a file that also uses CUDA. Read from the source.

    ## Why it matters
    Tensors come back on the device they were saved from. On a machine without that GPU loading fails, and with
    several GPUs all processes load onto the first one.

    ## Likely causes
    1. Training and playing happen on different machines. Confirm: load it with `CUDA_VISIBLE_DEVICES=`.

    ## What to try first
    `torch.load(file, map_location=device)`.

    ## When it is fine
    Where the checkpoint never leaves the machine.

    ## References
    CKP-07 of bench/bugs. PyTorch, *torch.load*.
    """

    code: ClassVar[str] = "CKP602"
    name: ClassVar[str] = "checkpoint-tied-to-its-device"
    severity: ClassVar[Severity] = "note"
    reads: ClassVar[str] = "Source"

    def check(self, evidence: Source) -> Iterator[Finding]:
        if not _uses_gpu(evidence):
            return
        for call in calls(evidence):
            if library(evidence, call) != "torch.load" or any(each.arg is None for each in call.keywords):
                continue
            if argument(call, 1, "map_location") is None:
                yield self.finding(
                    "the checkpoint is loaded onto the device it was saved from, whether that is there or not",
                    where=evidence.at(call),
                    seen=evidence.quoted(call),
                    expected="map_location=device",
                    help="torch.load(…, map_location=device)",
                    confidence=0.75,
                )


def _uses_gpu(source: Source) -> bool:
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Call) and (method(node) == "cuda" or library(source, node).startswith("torch.cuda.")):
            return True
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.partition(":")[0] == "cuda":
            return True
    return False
