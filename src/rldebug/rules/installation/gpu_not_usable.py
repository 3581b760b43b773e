"""The driver lists a GPU, and PyTorch cannot use it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.machine import Machine
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class GpuNotUsable(Rule):
    """The driver lists a GPU, and PyTorch cannot use it.

    ## What it checks
    The driver answers and lists GPUs, PyTorch is built for CUDA, and yet it finds none, or fails to multiply two
    matrices on the first.

    ## Why it matters
    The program stops, or trains on the CPU without a word.

    ## Likely causes
    1. A device file is missing, as in a container that was given the driver's tools alone. Confirm: look for
       /dev/nvidia-uvm.
    2. The driver was updated and the machine not restarted. Confirm: /proc/driver/nvidia/version, beside what
       nvidia-smi says.
    3. The GPU's memory is full, or it is reserved. Confirm: nvidia-smi lists the processes and the compute mode.

    ## What to try first
    Read what PyTorch says, in `seen`; load the module nvidia-uvm, or restart the container with its GPUs.

    ## When it is fine
    Never, where a GPU is to be used.

    ## References
    PyTorch, *CUDA semantics*; NVIDIA, *Container Toolkit: troubleshooting*.
    """

    code: ClassVar[str] = "INS705"
    name: ClassVar[str] = "gpu-not-usable"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Machine"
    follows: ClassVar[tuple[str, ...]] = (
        "INS700",
        "INS701",
        "INS703",
        "INS704",
        "INS706",
        "INS708",
        "INS719",
    )

    def check(self, evidence: Machine) -> Iterator[Finding]:
        torch, trial = evidence.torch, evidence.trial("torch")
        hidden = evidence.variables.get("CUDA_VISIBLE_DEVICES", "0").strip() in ("", "-1", "NoDevFiles")
        if torch is None or trial is None or torch.cuda is None or not evidence.driver.gpus or hidden:
            return
        if torch.computed or trial.outcome in ("died", "hung") or (torch.available is None and not trial.failed):
            return
        said = trial.ending or "; ".join(torch.warnings) or "torch.cuda.is_available() is False, without a reason"
        yield self.finding(
            "the driver lists a GPU, and PyTorch cannot use it",
            seen=f"{evidence.driver.gpus[0].name}: {said}",
            expected="a product of two matrices",
            help="run `nvidia-modprobe -u -c=0`, or restart the machine; restart a container with all of its GPUs"
            if not torch.available
            else "read what PyTorch says; look with nvidia-smi whether the GPU's memory is free",
            confidence=0.85,
        )
