"""Somebody else is using the GPU."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.machine import Machine
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class GpuTaken(Rule):
    """Somebody else is using the GPU.

    ## What it checks
    How much of the memory and of the time of each GPU is used before anything of yours has begun.

    ## Why it matters
    Training shares the GPU's time, and stops where the memory is not enough. What is measured then is not the program's
    speed.

    ## Likely causes
    1. Another user's job, or a run of yours that never ended. Confirm: nvidia-smi lists the processes.
    2. Processes in another container, which are not listed. Confirm: memory is used and no process is named.

    ## What to try first
    Choose another GPU with CUDA_VISIBLE_DEVICES, or end the run that was forgotten.

    ## When it is fine
    Where it is shared on purpose.

    ## References
    NVIDIA, *nvidia-smi*.
    """

    code: ClassVar[str] = "PRF703"
    name: ClassVar[str] = "gpu-taken"
    severity: ClassVar[Severity] = "note"
    reads: ClassVar[str] = "Machine"

    memory: float = 0.3  # share that is used by others
    full: float = 0.9  # share from which on little is left
    busy: float = 0.5  # share of the time

    def check(self, evidence: Machine) -> Iterator[Finding]:
        for gpu in evidence.driver.gpus:
            used = gpu.used / gpu.total if gpu.used is not None and gpu.total else 0.0
            busy = gpu.utilisation or 0.0
            if used < self.memory and busy < self.busy:
                continue
            who = f"; {', '.join(evidence.driver.processes[:3])}" if evidence.driver.processes else ""
            yield self.finding(
                f"somebody uses GPU {gpu.index} already",
                seen=f"{used:.0%} of its memory, {busy:.0%} of its time{who}",
                expected="a GPU that is free",
                help="choose another with CUDA_VISIBLE_DEVICES, or end what runs there",
                confidence=0.8,
                severity="warning" if used >= self.full else "note",
            )
