"""The program has more files and pipes open than it may."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class TooManyOpenFiles(Rule):
    """The program has more files and pipes open than it may.

    ## What it checks
    Opening a file or a pipe failed, or a tensor could not be handed to another process: no descriptors are left.

    ## Why it matters
    Each worker of a vector environment has pipes; each tensor that is shared between processes may have a descriptor.

    ## Likely causes
    1. Vector environments, recorders or writers are made in a loop and never closed. Confirm: count the entries of
       `/proc/self/fd` from round to round.
    2. Many tensors are sent through queues, and their receiver keeps them. Confirm: the message speaks of ancdata.
    3. The limit is low for that many workers. Confirm: `ulimit -n`.

    ## What to try first
    Close environments with `close()` in a `finally`; call `torch.multiprocessing.set_sharing_strategy("file_system")`.

    ## When it is fine
    Never: the program has ended.

    ## References
    PyTorch, *Multiprocessing package*: sharing strategies.
    """

    code: ClassVar[str] = "MPR440"
    name: ClassVar[str] = "too-many-open-files"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return evidence.says("Too many open files", "received 0 items of ancdata")

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        tensors = evidence.says("ancdata") or evidence.inside("torch.multiprocessing")
        shared = 'torch.multiprocessing.set_sharing_strategy("file_system") at the start; '
        made = [f"{name} ({fact['type']})" for _, name, fact in evidence.held("environment")]
        yield self.finding(
            "no file descriptors are left",
            where=evidence.where,
            seen=evidence.said + (f"; environments in reach: {', '.join(made[:4])}" if made else ""),
            expected="environments, recorders and queues that are closed when they are done with",
            help=f"{shared if tensors else ''}close() every vector environment that a loop makes; "
            "then raise the limit: ulimit -n 65535",
            confidence=0.9,
        )
