"""One memory is handed to a new process twice."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.bound import bound
from rldebug.evidence.crashes.views import view_operation
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class MemorySentTwice(Rule):
    """One memory is handed to a new process twice.

    ## What it checks
    A process could not be started because the same file descriptor was to be kept open for it twice.

    ## Why it matters
    A tensor is handed over by the descriptor of its memory. Two views of one tensor have one memory, and older
    versions of PyTorch hand it over once for each.

    ## Likely causes
    1. Rows, columns or chunks of one tensor are among the arguments of the process. Confirm: the operation that is
       named makes views.
    2. Two networks share a weight, or the same pipe is given twice. Confirm: the paths that are named.
    3. `sys.stderr` or another stream has no descriptor of its own, as in some consoles. Confirm:
       `sys.stderr.fileno()`.

    ## What to try first
    Clone the views before they are given to the process.

    ## When it is fine
    Never: the program has ended.

    ## References
    PyTorch, *Multiprocessing package*: sharing strategies; pytorch/pytorch issue 50089.
    """

    code: ClassVar[str] = "MPR451"
    name: ClassVar[str] = "memory-sent-twice"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return evidence.says(r"bad value\(s\) in fds_to_keep")

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        shared = evidence.between.get("sent", {}).get("shared", [])
        names = [each["path"] for each in shared]
        views = [each for each in shared if each.get("view")]
        root = re.split(r"[\[.]", views[0]["path"])[0] if views else ""
        origin = bound(evidence, evidence.at, root) if root else None
        operation = view_operation(origin.value) if origin else ""
        came = (
            f"; {root} is made of views by {operation} in {origin.place}: `{origin.text}`"
            if origin and operation
            else ""
        )
        yield self.finding(
            f"{' and '.join(names[:3])} share one memory and are given to a process together"
            if names
            else "one memory is handed to a new process twice",
            where=evidence.where,
            seen=f"{evidence.said}{came}",
            expected="a memory of its own for each tensor that is given to a process",
            help="give the process a clone() of each, or the whole tensor once",
            confidence=0.9 if names else 0.7,
        )
