"""A worker forked after torch has computed hangs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.machine import Machine
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class ForkedWorkerHangs(Rule):
    """A worker forked after torch has computed hangs.

    ## What it checks
    In a process of its own, torch multiplies matrices with several threads, forks, and multiplies again in the fork,
    which did not come back. Said only where workers are asked for (--workers), and they are started by fork.

    ## Why it matters
    The fork has a copy of the pool of threads, without the threads: its first large operation waits for them for ever.

    ## Likely causes
    1. The OpenMP of GNU, with which most builds of PyTorch come, does not outlive a fork. Confirm: OMP_NUM_THREADS=1
       makes it go on.

    ## What to try first
    Start workers before the first computation, or with the start method spawn or forkserver; set
    torch.set_num_threads(1) in each.

    ## When it is fine
    Where workers step environments and compute nothing with torch.

    ## References
    PyTorch, *Multiprocessing best practices: avoiding and fighting deadlocks*; GCC bug 52303.
    """

    code: ClassVar[str] = "MPR702"
    name: ClassVar[str] = "forked-worker-hangs"
    severity: ClassVar[Severity] = "note"
    reads: ClassVar[str] = "Machine"

    def check(self, evidence: Machine) -> Iterator[Finding]:
        trial = evidence.trial("fork")
        if trial is None or not trial.facts.get("hangs") or not evidence.workers:
            return
        if evidence.limits.start_method != "fork":
            return
        yield self.finding(
            "workers that are forked after torch has computed hang in their first computation",
            seen="a matrix product in the fork did not come back; the start method is fork",
            expected="the product",
            help="set OMP_NUM_THREADS=1 or the start method forkserver, or start workers before torch computes",
            confidence=0.85,
        )
