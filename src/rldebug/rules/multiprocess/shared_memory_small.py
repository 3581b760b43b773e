"""There is little shared memory for worker processes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.machine import Machine
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class SharedMemorySmall(Rule):
    """There is little shared memory for worker processes.

    ## What it checks
    The size of /dev/shm, through which processes hand tensors and arrays to one another.

    ## Why it matters
    Vector environments in processes, and loaders with workers, die of SIGBUS or fail with no space left on device, as
    soon as observations are large.

    ## Likely causes
    1. A container has 64 MiB unless it is told otherwise. Confirm: `df -h /dev/shm`.

    ## What to try first
    Start the container with --shm-size=2g, or --ipc=host.

    ## When it is fine
    Where one process does everything.

    ## References
    PyTorch, *Multiprocessing best practices*; Docker, *docker run: --shm-size*.
    """

    code: ClassVar[str] = "MPR700"
    name: ClassVar[str] = "shared-memory-small"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Machine"

    least: float = 256.0  # MiB; eight environments of stacked Atari frames and their queues

    def check(self, evidence: Machine) -> Iterator[Finding]:
        size = evidence.limits.shm
        if size is None or size >= self.least * 2**20:
            return
        yield self.finding(
            f"worker processes share {size / 2**20:.0f} MiB of memory: too little for observations that are pictures",
            seen=f"/dev/shm has {size / 2**20:.0f} MiB",
            expected=f"{self.least:.0f} MiB or more",
            help="start the container with --shm-size=2g or --ipc=host; else AsyncVectorEnv(..., shared_memory=False)",
            confidence=0.85,
        )
