"""The GPU takes one process only."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.machine import Machine
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class GpuForOneProcess(Rule):
    """The GPU takes one process only.

    ## What it checks
    The compute mode of each GPU.

    ## Why it matters
    In exclusive mode a second process, a worker or an evaluation beside the training, fails: all CUDA-capable devices
    are busy or unavailable.

    ## Likely causes
    1. The machine's administrator, or its batch system, has set it. Confirm: `nvidia-smi -q -d COMPUTE`.

    ## What to try first
    Keep the GPU to one process; or ask for the mode DEFAULT, or for MPS.

    ## When it is fine
    Where one process uses the GPU.

    ## References
    NVIDIA, *nvidia-smi: compute mode*; *Multi-Process Service*.
    """

    code: ClassVar[str] = "MPR703"
    name: ClassVar[str] = "gpu-for-one-process"
    severity: ClassVar[Severity] = "note"
    reads: ClassVar[str] = "Machine"

    def check(self, evidence: Machine) -> Iterator[Finding]:
        shut = [each for each in evidence.driver.gpus if each.mode.lower().startswith("exclusive")]
        if not shut or "CUDA_MPS_PIPE_DIRECTORY" in evidence.variables:
            return
        yield self.finding(
            f"workers on GPU {shut[0].index} will fail: it takes one process only",
            seen=f"compute mode {shut[0].mode}",
            expected="Default, where several processes use it",
            help="use CUDA in one process alone; or nvidia-smi -c DEFAULT, or start MPS",
            confidence=0.9,
            severity="warning" if evidence.workers else "note",
        )
