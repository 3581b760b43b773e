"""A process may open few files only."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.machine import Machine
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class FewOpenFiles(Rule):
    """A process may open few files only.

    ## What it checks
    The limit on open files. Each worker process needs several for its pipes, and by default each tensor that is shared
    with it one more.

    ## Why it matters
    Too many open files, or ancdata that was not received: after some time, or with some more workers.

    ## Likely causes
    1. The limit of the shell or of the job is low. Confirm: `ulimit -n`.

    ## What to try first
    Raise it: `ulimit -n 65536`, before the program is started.

    ## When it is fine
    Where one process does everything.

    ## References
    PyTorch, *torch.multiprocessing: sharing strategies*.
    """

    code: ClassVar[str] = "MPR701"
    name: ClassVar[str] = "few-open-files"
    severity: ClassVar[Severity] = "note"
    reads: ClassVar[str] = "Machine"

    least: int = 512  # open files, for a few workers
    each: int = 24  # that a worker needs: pipes, and tensors that are under way

    def check(self, evidence: Machine) -> Iterator[Finding]:
        limits = evidence.limits
        needed = max(self.least, 128 + self.each * (evidence.workers or 0))
        if limits.files is None or limits.files >= needed:
            return
        top = limits.files_hard
        wanted = 65536 if top is None else min(65536, top)
        yield self.finding(
            f"a process may open {limits.files} files only",
            seen=f"ulimit -n is {limits.files}" + (f", for {evidence.workers} workers" if evidence.workers else ""),
            expected=f"{needed} or more",
            help=f"ulimit -n {wanted}, before the program is started"
            if wanted > limits.files
            else "ask for a higher limit, or torch.multiprocessing.set_sharing_strategy('file_system')",
            confidence=0.8,
            severity="warning" if evidence.workers else "note",
        )
