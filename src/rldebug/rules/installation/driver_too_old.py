"""The driver is too old for the CUDA that PyTorch was built for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.machine import Machine, release
from rldebug.evidence.machines.cuda import OLDEST_DRIVER, torch_for
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class DriverTooOld(Rule):
    """The driver is too old for the CUDA that PyTorch was built for.

    ## What it checks
    The CUDA that PyTorch was built for, beside the oldest driver that goes with it. Where PyTorch computes on the GPU
    all the same, nothing is said.

    ## Why it matters
    PyTorch finds no GPU: the program stops, or trains on the CPU without a word.

    ## Likely causes
    1. PyTorch is newer than the machine. Confirm: the first lines of nvidia-smi name the highest CUDA version.
    2. A container brings its own PyTorch, while the driver is the host's. Confirm: nvidia-smi inside and outside name
       the same driver.

    ## What to try first
    Install the PyTorch for an older CUDA that is named in `help`; that needs no rights on the machine.

    ## When it is fine
    Never, where a GPU is to be used.

    ## References
    NVIDIA, *CUDA compatibility*: minor version compatibility.
    """

    code: ClassVar[str] = "INS701"
    name: ClassVar[str] = "driver-too-old"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Machine"

    def check(self, evidence: Machine) -> Iterator[Finding]:
        torch, driver = evidence.torch, evidence.driver
        if torch is None or torch.cuda is None or torch.computed or not driver.version:
            return
        needed = OLDEST_DRIVER.get(release(torch.cuda)[0])
        if needed is None or release(driver.version)[0] >= needed:
            return
        builds = torch_for(driver)
        yield self.finding(
            "the NVIDIA driver is too old for this PyTorch",
            seen=f"driver {driver.version}{f', for CUDA up to {driver.cuda}' if driver.cuda else ''}; "
            f"PyTorch {torch.version} was built for CUDA {torch.cuda}",
            expected=f"driver {needed} or newer, or a PyTorch for an older CUDA",
            help=f"{builds}, or update the driver" if builds else "update the driver",
            confidence=0.97,
        )
