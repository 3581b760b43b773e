"""Torch starts more threads than it is granted cores."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.machine import Limits, Machine
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


def _granted(limits: Limits) -> str:
    if limits.quota is not None and limits.quota <= (limits.affinity or limits.cores):
        return f"the control group grants {limits.quota:.3g} of {limits.cores} cores"
    return f"the process may run on {limits.affinity or limits.cores} of {limits.cores} cores"


@dataclass(frozen=True, kw_only=True)
class ThreadsBeyondCores(Rule):
    """Torch starts more threads than it is granted cores.

    ## What it checks
    The threads that torch starts with, beside the cores that the process may run on and the time that its control group
    grants.

    ## Why it matters
    A container shows all cores of the machine and grants the time of a few: threads wait for one another while the
    group is held back. Small networks become several times slower.

    ## Likely causes
    1. A container or a job is limited in time rather than in cores. Confirm: /sys/fs/cgroup/cpu.max.
    2. OMP_NUM_THREADS is of another machine. Confirm: print it.

    ## What to try first
    Set OMP_NUM_THREADS to the number of cores that are granted, before the program is started; for small networks to 1.

    ## When it is fine
    Where the work is done on a GPU, and the CPU has little to do.

    ## References
    pytorch/rl issue 1325; PyTorch, *CPU threading*.
    """

    code: ClassVar[str] = "PRF700"
    name: ClassVar[str] = "threads-beyond-cores"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Machine"

    slack: float = 1.5  # times the cores that are granted

    def check(self, evidence: Machine) -> Iterator[Finding]:
        torch, limits = evidence.torch, evidence.limits
        if torch is None or torch.threads is None or torch.threads <= self.slack * limits.usable or torch.threads < 2:
            return
        granted = max(1, int(limits.usable))
        told = evidence.variables.get("OMP_NUM_THREADS")
        yield self.finding(
            f"torch starts {torch.threads} threads where {limits.usable:.3g} cores are granted",
            seen=f"{torch.threads} threads" + (f", OMP_NUM_THREADS={told}" if told else "") + f"; {_granted(limits)}",
            expected=f"{granted} or fewer",
            help=f"export OMP_NUM_THREADS={granted} before the program is started, or 1 where networks are small",
            confidence=0.85,
        )
