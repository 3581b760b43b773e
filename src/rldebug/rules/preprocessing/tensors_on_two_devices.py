"""Tensors that meet lie on different devices."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crash_signs import operands_told
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class TensorsOnTwoDevices(Rule):
    """Tensors that meet lie on different devices.

    ## What it checks
    PyTorch refused to bring together tensors of two devices, or to give a tensor of a GPU to NumPy.

    ## Why it matters
    Data comes from the environment on the CPU; the network may lie elsewhere.

    ## Likely causes
    1. Observations or a batch are not moved to the network's device. Confirm: print `.device` of both.
    2. A constant, as a scale or the atoms of a distribution, was not registered as a buffer of the module. Confirm: the
       same.
    3. An action is not moved back before it goes to the environment. Confirm: the same.

    ## What to try first
    Move data to the device where it becomes a tensor, and actions back with `.cpu()`.

    ## When it is fine
    Never: the program has ended.

    ## References
    PyTorch, *CUDA semantics*.
    """

    code: ClassVar[str] = "PRE406"
    name: ClassVar[str] = "tensors-on-two-devices"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        typed = re.search(r"Input type \(([^)]*)\) and (?:weight|bias) type \(([^)]*)\)", evidence.message)
        apart = typed is not None and ("cuda" in typed[1]) != ("cuda" in typed[2])
        return apart or evidence.says(
            "Expected all tensors to be on the same device",
            r"can't convert \S+ device type tensor to numpy",
            "is not on the expected device",
            "tensors to be on same device",
        )

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        yield self.finding(
            "tensors of two devices meet",
            where=evidence.where,
            seen=f"{evidence.said}{operands_told(evidence)}",
            expected="all of them on one device",
            help="move data to the network's device where it becomes a tensor, and actions back with .cpu()",
            confidence=0.75,
        )
