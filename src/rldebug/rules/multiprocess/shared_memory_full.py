"""The memory that processes share is full."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class SharedMemoryFull(Rule):
    """The memory that processes share is full.

    ## What it checks
    A block of shared memory could not be made, or a worker died of it.

    ## Why it matters
    Tensors and observations go between processes through `/dev/shm`. Containers give it 64 MB.

    ## Likely causes
    1. The container has the default size. Confirm: `df -h /dev/shm`.
    2. Image observations of many environments are shared. Confirm: multiply the size of one by their number.
    3. Blocks of earlier runs that were killed are still there. Confirm: `ls /dev/shm`.

    ## What to try first
    Start the container with `--shm-size=8g` or `--ipc=host`.

    ## When it is fine
    Never: the program has ended.

    ## References
    PyTorch, *Multiprocessing package*; Docker, `--shm-size`.
    """

    code: ClassVar[str] = "MPR458"
    name: ClassVar[str] = "shared-memory-full"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return evidence.says(
            r"unable to (write to file|open shared memory object|mmap|allocate shared memory) ?[^\n]*</?torch",
            "(insufficient|out of) shared memory",
            r"[Bb]us error.*shm",
        ) or (evidence.says("No space left on device") and evidence.inside("multiprocessing", "torch.multiprocessing"))

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        yield self.finding(
            "the memory that processes share is full",
            where=evidence.where,
            seen=evidence.said,
            expected="room in /dev/shm for what the workers send",
            help="start the container with --shm-size=8g or --ipc=host, or use fewer workers: df -h /dev/shm",
            confidence=0.95,
        )
