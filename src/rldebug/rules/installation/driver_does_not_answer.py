"""NVIDIA's driver does not answer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.machine import Machine
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class DriverDoesNotAnswer(Rule):
    """NVIDIA's driver does not answer.

    ## What it checks
    Whether nvidia-smi, where it is installed, lists the GPUs.

    ## Why it matters
    What the driver does not answer to nvidia-smi it does not answer to PyTorch.

    ## Likely causes
    1. The driver was updated while it was loaded. Confirm: it says that driver and library versions mismatch; restart
       the machine.
    2. A container has lost its GPUs, as after a reload of the host's services. Confirm: it says Unknown Error; restart
       the container.
    3. The machine has no GPU, and the tools are there all the same. Confirm: lspci lists none.

    ## What to try first
    Restart the container, then the machine.

    ## When it is fine
    A machine without a GPU that was set up like those that have one: no more than a note then.

    ## References
    NVIDIA, *nvidia-smi*; *Container Toolkit: troubleshooting*.
    """

    code: ClassVar[str] = "INS706"
    name: ClassVar[str] = "driver-does-not-answer"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Machine"

    def check(self, evidence: Machine) -> Iterator[Finding]:
        driver = evidence.driver
        if not driver.said:
            return
        mismatch = "mismatch" in driver.said
        yield self.finding(
            "the NVIDIA driver does not answer",
            seen=driver.said,
            expected="a list of GPUs",
            help="restart the machine: the driver was updated while the old one was loaded"
            if mismatch
            else "restart the container with its GPUs, or the machine"
            if driver.cards
            else "nothing, if this machine is meant to have no GPU",
            confidence=0.9,
            severity="warning" if driver.cards else "note",
        )
