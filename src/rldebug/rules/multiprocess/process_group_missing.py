"""A collective is called without a process group."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.signs import operands_told
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class ProcessGroupMissing(Rule):
    """A collective is called without a process group.

    ## What it checks
    A function of `torch.distributed` was called before `init_process_group`, or after it was destroyed.

    ## Why it matters
    With one process there is nothing to reduce, and no group to do it in.

    ## Likely causes
    1. The script was started by hand, and only the launcher's branch begins the group. Confirm: print
       `torch.distributed.is_initialized()`.
    2. The reduction stands before `init_process_group`, or after `destroy_process_group`. Confirm: the same.

    ## What to try first
    Guard it with `if torch.distributed.is_initialized():`.

    ## When it is fine
    Never: the program has ended.

    ## References
    PyTorch, *Distributed communication package*: initialization.
    """

    code: ClassVar[str] = "MPR456"
    name: ClassVar[str] = "process-group-missing"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return evidence.says("[Dd]efault process group has not been initialized", "Process group .*not initialized")

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        found = re.search(r"(\w+)\s*\(", evidence.at.expression) if evidence.at else None
        called = f"{found[1]}() was" if found else "a collective was"
        yield self.finding(
            f"{called} called without a process group",
            where=evidence.where,
            seen=f"{evidence.said}{operands_told(evidence)}",
            expected="init_process_group() before it, or one process and no call",
            help="write if torch.distributed.is_initialized(): before it, or start the script with torchrun and call "
            "init_process_group() first",
            confidence=0.95,
        )
