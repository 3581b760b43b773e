"""PyTorch is built for the CPU alone, and there is a GPU."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.machine import Machine
from rldebug.evidence.machines.cuda import torch_for
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class TorchWithoutGpuSupport(Rule):
    """PyTorch is built for the CPU alone, and there is a GPU.

    ## What it checks
    The driver lists GPUs, and PyTorch was built without CUDA and without ROCm.

    ## Why it matters
    `torch.cuda.is_available()` is False, and programs that choose their device by it train on the CPU without a word.

    ## Likely causes
    1. The CPU's build was installed, as by some index, or as a dependency. Confirm: `torch.__version__` ends in +cpu,
       or `torch.version.cuda` is None.
    2. Another Python runs than the one it was installed for. Confirm: print `sys.executable`.

    ## What to try first
    Install the build that is named in `help`.

    ## When it is fine
    Programs that are meant to run on the CPU: small networks are often faster there.

    ## References
    PyTorch, *Start locally*.
    """

    code: ClassVar[str] = "INS702"
    name: ClassVar[str] = "torch-without-gpu-support"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Machine"

    def check(self, evidence: Machine) -> Iterator[Finding]:
        torch, driver = evidence.torch, evidence.driver
        if torch is None or torch.cuda is not None or torch.hip is not None or not driver.gpus:
            return
        builds = torch_for(driver)
        yield self.finding(
            "this PyTorch cannot use the GPU: it is built for the CPU alone",
            seen=f"PyTorch {torch.version}; {driver.gpus[0].name}, driver {driver.version}",
            expected="a PyTorch that is built for CUDA",
            help=builds if builds else "install PyTorch with the command that pytorch.org gives for this driver",
            confidence=0.95,
        )
