"""The GPU is split into parts, and none can be reached."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.machine import Machine
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class NoPartOfTheGpu(Rule):
    """The GPU is split into parts, and none can be reached.

    ## What it checks
    A GPU is in MIG mode, and PyTorch finds no GPU.

    ## Why it matters
    A GPU that is split is used through its parts alone; where none was made, or none was handed over, there is none.

    ## Likely causes
    1. No part was made. Confirm: `nvidia-smi mig -lgi` lists none.
    2. None was handed over to this container or job. Confirm: `nvidia-smi -L` lists none with MIG- in its name.

    ## What to try first
    Run `nvidia-smi -L`, and set CUDA_VISIBLE_DEVICES to the name of a part.

    ## When it is fine
    Never, where a GPU is to be used.

    ## References
    NVIDIA, *Multi-Instance GPU user guide*.
    """

    code: ClassVar[str] = "INS719"
    name: ClassVar[str] = "no-part-of-the-gpu"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Machine"

    def check(self, evidence: Machine) -> Iterator[Finding]:
        torch = evidence.torch
        split = [each for each in evidence.driver.gpus if each.mig]
        if not split or torch is None or torch.cuda is None or torch.available or torch.available is None:
            return
        yield self.finding(
            "the GPU is split into parts (MIG), and PyTorch reaches none of them",
            seen=f"MIG mode is on for GPU {split[0].index}, {split[0].name}; PyTorch finds no GPU",
            expected="a part that CUDA_VISIBLE_DEVICES names, or the whole GPU",
            help="run `nvidia-smi -L` and set CUDA_VISIBLE_DEVICES=MIG-…; or make a part, or switch MIG off",
            confidence=0.9,
        )
