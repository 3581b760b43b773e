"""Workers are started without a guard of the main module."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class MainGuardMissing(Rule):
    """Workers are started without a guard of the main module.

    ## What it checks
    A process was started while the main module was still being imported by a worker.

    ## Why it matters
    A spawned worker imports the main module. Without `if __name__ == "__main__":` it runs the training again, and
    that starts workers in turn.

    ## Likely causes
    1. The training stands at the top level of the script. Confirm: look for `if __name__`.
    2. A module that the worker imports starts workers when it is imported. Confirm: the line that is named.

    ## What to try first
    Put the training into `main()` and call it under `if __name__ == "__main__":`.

    ## When it is fine
    Never: the program has ended.

    ## References
    Python, `multiprocessing`: safe importing of main module.
    """

    code: ClassVar[str] = "MPR453"
    name: ClassVar[str] = "main-guard-missing"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return evidence.says("bootstrapping phase")

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        yield self.finding(
            "workers are started at the top level of the program, and each of them starts it again",
            where=evidence.where,
            seen=f"{evidence.said[:120]}{f'; in `{evidence.at.source}`' if evidence.at and evidence.at.source else ''}",
            expected='if __name__ == "__main__": around what starts workers',
            help='move the training into main() and call it under if __name__ == "__main__":',
            confidence=0.95,
        )
