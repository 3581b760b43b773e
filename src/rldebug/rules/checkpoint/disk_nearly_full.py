"""The disk under this folder is nearly full, or cannot be written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.machine import Machine
from rldebug.finding import Finding, Severity, Where
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class DiskNearlyFull(Rule):
    """The disk under this folder is nearly full, or cannot be written.

    ## What it checks
    What is free under the current folder, and whether it can be written to.

    ## Why it matters
    A checkpoint that is cut short replaces the last good one in many programs; logs stop, or the run ends with them.

    ## Likely causes
    1. Old runs and their checkpoints fill it. Confirm: `du -sh *`.
    2. The folder belongs to somebody else, or is mounted to be read only. Confirm: `touch` a file in it.

    ## What to try first
    Delete old checkpoints, or write to another disk.

    ## When it is fine
    Where nothing is written here.

    ## References
    Python, *shutil.disk_usage*.
    """

    code: ClassVar[str] = "CKP700"
    name: ClassVar[str] = "disk-nearly-full"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Machine"

    least: float = 1.0  # GiB that should be free

    def check(self, evidence: Machine) -> Iterator[Finding]:
        limits = evidence.limits
        if not limits.writable:
            yield self.finding(
                "nothing can be written in this folder: checkpoints and logs will fail",
                where=Where(file=evidence.folder or None),
                seen="the folder cannot be written to",
                expected="a folder for checkpoints and logs",
                help="start from a folder of your own, or mount this one so that it can be written",
                confidence=0.8,
            )
        elif limits.disk_free is not None and limits.disk_free < self.least * 2**30:
            yield self.finding(
                f"{limits.disk_free / 2**20:.0f} MiB are left on the disk: checkpoints may be cut short",
                where=Where(file=evidence.folder or None),
                seen=f"{limits.disk_free / 2**20:.0f} MiB free",
                expected=f"{self.least:.3g} GiB or more",
                help="delete old checkpoints, or write to another disk",
                confidence=0.85,
            )
