"""A checkpoint cannot be read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.signs import unpickled
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class CheckpointUnreadable(Rule):
    """A checkpoint cannot be read.

    ## What it checks
    Loading a file failed: it is not there, or it is not whole.

    ## Why it matters
    The run cannot be resumed, or the network cannot be evaluated.

    ## Likely causes
    1. The file is elsewhere, or was never written. Confirm: list the folder; print the working folder.
    2. The program was stopped while it was written, or the disk was full. Confirm: its size.
    3. It is another file than thought: a pointer of Git LFS, a web page. Confirm: look at its first line.

    ## What to try first
    Print `os.path.abspath` and the size of the file.

    ## When it is fine
    Never: the program has ended.

    ## References
    PyTorch, `torch.load`.
    """

    code: ClassVar[str] = "CKP402"
    name: ClassVar[str] = "checkpoint-unreadable"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        if evidence.says("Weights only load failed"):
            return False
        loads = evidence.inside("torch.serialization", "pickle", "zipfile")
        return (
            (loads and (evidence.is_a("FileNotFoundError", "BadZipFile") or evidence.says("negative seek value")))
            or evidence.says("PytorchStreamReader failed", "pickle data was truncated", "invalid load key")
            or (evidence.is_a("EOFError", "UnpicklingError") and unpickled(evidence))
        )

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        path = re.search(r"No such file or directory: '([^']+)'", evidence.message)
        empty = evidence.is_a("EOFError") or evidence.says("Ran out of input")
        state = f"{path[1]} is not there" if path else "the file is empty" if empty else "the file is not whole"
        yield self.finding(
            f"a checkpoint could not be read: {state}",
            where=evidence.where,
            seen=evidence.said,
            expected="a whole file",
            help="print os.path.abspath of it and list its folder: relative paths begin at the working folder"
            if path
            else "look at its size: it was cut off while it was written. Write to another name, then os.replace() it",
            confidence=0.9,
        )
