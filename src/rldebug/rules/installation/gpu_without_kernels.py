"""PyTorch has no kernels for this GPU."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.machine import Machine, release
from rldebug.evidence.machines.cuda import arch_number, has_kernels
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class GpuWithoutKernels(Rule):
    """PyTorch has no kernels for this GPU.

    ## What it checks
    The compute capability of each GPU, beside the architectures that PyTorch was built for. Where PyTorch computes on
    it all the same, nothing is said.

    ## Why it matters
    The first operation fails: no kernel image is available for execution on the device.

    ## Likely causes
    1. The GPU is newer than PyTorch. Confirm: `torch.cuda.get_arch_list()` ends below its compute capability.
    2. The GPU is so old that its architecture was dropped. Confirm: the list begins above it.

    ## What to try first
    Install a newer PyTorch for a new GPU, an older one for an old GPU.

    ## When it is fine
    Never, where that GPU is to be used; another one can be chosen with CUDA_VISIBLE_DEVICES.

    ## References
    NVIDIA, *CUDA GPUs and their compute capability*; PyTorch, `torch.cuda.get_arch_list`.
    """

    code: ClassVar[str] = "INS703"
    name: ClassVar[str] = "gpu-without-kernels"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Machine"

    def check(self, evidence: Machine) -> Iterator[Finding]:
        torch = evidence.torch
        if torch is None or not torch.archs or torch.computed or torch.cuda is None:
            return
        known = torch.capabilities or tuple(each.capability for each in evidence.driver.gpus if each.capability)
        lacking = sorted({each for each in known if not has_kernels(each, torch.archs)})
        if not lacking:
            return
        newer = release(lacking[-1]) > max(arch_number(each)[1] or (0, 0) for each in torch.archs)
        yield self.finding(
            f"this PyTorch has no kernels for {'a GPU as new' if newer else 'a GPU as old'} as this one",
            seen=f"compute capability {', '.join(lacking)}; PyTorch {torch.version} has {', '.join(torch.archs)}",
            expected=f"sm_{lacking[-1].replace('.', '')} or an earlier one of the same generation among them",
            help="install a newer PyTorch, for the newest CUDA that the driver goes with"
            if newer
            else "install an older PyTorch, or one for an older CUDA: newer ones have dropped this generation",
            confidence=0.95,
        )
