"""There is an NVIDIA card, and no driver for it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.machine import Machine
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class GpuWithoutDriver(Rule):
    """There is an NVIDIA card, and no driver for it.

    ## What it checks
    Cards of NVIDIA's on the bus, where neither nvidia-smi nor a loaded driver is found and PyTorch finds no GPU.

    ## Why it matters
    PyTorch cannot use the card.

    ## Likely causes
    1. A container was started without its GPUs. Confirm: nvidia-smi works on the host.
    2. No driver is installed, or the free one of the system is in use. Confirm: run `lsmod`, and look for nvidia and
       nouveau.

    ## What to try first
    In a container: start it with all GPUs, as by docker's option --gpus all. On the machine itself: install NVIDIA's
    driver.

    ## When it is fine
    Where the program is meant to run on the CPU.

    ## References
    NVIDIA, *Container Toolkit*; *Driver installation guide*.
    """

    code: ClassVar[str] = "INS707"
    name: ClassVar[str] = "gpu-without-driver"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Machine"

    def check(self, evidence: Machine) -> Iterator[Finding]:
        driver, torch = evidence.driver, evidence.torch
        if not driver.cards or driver.answers or driver.said or (torch is not None and torch.available):
            return
        yield self.finding(
            "there is an NVIDIA card, and no driver for it can be reached",
            seen=f"{driver.cards} on the bus; no nvidia-smi" + (f"; driver {driver.version}" if driver.version else ""),
            expected="a driver that lists them",
            help="in a container: start it with --gpus all; else install NVIDIA's driver",
            confidence=0.8,
            severity="warning" if torch is not None and torch.cuda is not None else "note",
        )
