"""A GPU is asked for that is not there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class GpuMissing(Rule):
    """A GPU is asked for that is not there.

    ## What it checks
    A tensor or module was to be moved to a GPU, and there is none, or PyTorch was built without.

    ## Why it matters
    The program cannot begin.

    ## Likely causes
    1. PyTorch is installed in its version for the CPU. Confirm: `torch.version.cuda` is None.
    2. No driver, or none that fits. Confirm: run nvidia-smi.
    3. The number of the GPU is beyond those that are there. Confirm: `torch.cuda.device_count()`.

    ## What to try first
    Choose the device by `torch.cuda.is_available()`.

    ## When it is fine
    Never: the program has ended.

    ## References
    PyTorch, *Start locally*.
    """

    code: ClassVar[str] = "INS403"
    name: ClassVar[str] = "gpu-missing"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return evidence.says(
            "Torch not compiled with CUDA enabled",
            "No CUDA GPUs are available",
            "Found no NVIDIA driver",
            "invalid device ordinal",
            "NVIDIA driver on your system is too old",
            "not linked with support for (cuda|mps)",
        )

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        yield self.finding(
            "a GPU was asked for that is not there",
            where=evidence.where,
            seen=evidence.said,
            expected="a device that this machine has",
            help="choose it by torch.cuda.is_available()",
            confidence=0.95,
        )
