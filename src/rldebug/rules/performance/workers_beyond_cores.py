"""The workers' threads are many more than the cores."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.machine import Machine
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class WorkersBeyondCores(Rule):
    """The workers' threads are many more than the cores.

    ## What it checks
    With --workers: so many processes, each with the threads that torch starts with, beside the cores that are granted.

    ## Why it matters
    Threads of all workers take turns on the cores and wait for one another; eight times slower has been measured.

    ## Likely causes
    1. Each worker starts a thread for each core. Confirm: print `torch.get_num_threads()` in a worker.
    2. There are more workers than cores. Confirm: compare the two numbers.

    ## What to try first
    Set OMP_NUM_THREADS=1 before the program is started.

    ## When it is fine
    Where workers mostly wait: for a network, a game, another machine.

    ## References
    pytorch/rl issue 1325; PyTorch, *Multiprocessing best practices: CPU oversubscription*.
    """

    code: ClassVar[str] = "PRF701"
    name: ClassVar[str] = "workers-beyond-cores"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Machine"

    most: float = 2.0  # threads to a core

    def check(self, evidence: Machine) -> Iterator[Finding]:
        torch, workers, usable = evidence.torch, evidence.workers, evidence.limits.usable
        if torch is None or torch.threads is None or workers is None or workers < 2:
            return
        if workers * torch.threads <= self.most * usable:
            return
        alone = workers > self.most * usable
        yield self.finding(
            f"{workers} workers start {workers * torch.threads} threads on {usable:.3g} cores",
            seen=f"{torch.threads} threads in each process",
            expected=f"{max(1, int(usable))} threads in all, or about so many",
            help=f"use about {max(1, int(usable))} workers, and export OMP_NUM_THREADS=1"
            if alone
            else "export OMP_NUM_THREADS=1 before the program is started",
            confidence=0.85,
        )
