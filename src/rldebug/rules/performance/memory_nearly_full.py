"""Little memory is left."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.machine import Machine
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class MemoryNearlyFull(Rule):
    """Little memory is left.

    ## What it checks
    Memory that is free, in the machine and under the limit of the control group.

    ## Why it matters
    A replay buffer takes its memory as it fills: the process is killed after hours, without an exception. A million
    frames of Atari, stacked in fours, are 28 GB.

    ## Likely causes
    1. Another program holds the memory. Confirm: `free -h`, and `top` sorted by memory.
    2. The container's limit is low. Confirm: /sys/fs/cgroup/memory.max.

    ## What to try first
    End what is not needed; raise the container's limit; make the buffer smaller.

    ## When it is fine
    For small programs.

    ## References
    Linux, *cgroup v2: memory*.
    """

    code: ClassVar[str] = "PRF702"
    name: ClassVar[str] = "memory-nearly-full"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Machine"

    least: float = 1.0  # GiB that should be free

    def check(self, evidence: Machine) -> Iterator[Finding]:
        limits = evidence.limits
        if limits.memory_free is None or limits.memory_free >= self.least * 2**30:
            return
        whole = limits.memory_limit or limits.memory
        of = f" of {whole / 2**30:.1f} GiB" if whole else ""
        yield self.finding(
            f"{max(limits.memory_free, 0) / 2**20:.0f} MiB of memory are left",
            seen=f"{max(limits.memory_free, 0) / 2**20:.0f} MiB{of}"
            + (", by the limit of the control group" if limits.memory_limit else ""),
            expected=f"{self.least:.3g} GiB or more",
            help="end what else runs, or raise the container's limit; make the replay buffer smaller",
            confidence=0.8,
        )
