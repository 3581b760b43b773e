"""The program ends before anything has begun."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.place import unexplained
from rldebug.evidence.crashes.tensors import tensors_told
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class CrashBeforeTraining(Rule):
    """The program ends before anything has begun.

    ## What it checks
    The program ended with an exception that no other rule explains, before an environment was stepped or a network
    trained.

    ## Why it matters
    The program has ended; where it did is all that is known.

    ## Likely causes
    1. The line that is named, or what it was given. Confirm: look at the values in `seen`.

    ## What to try first
    Run the same line by itself

    ## When it is fine
    Never: the program has ended.

    ## References
    Python, *Errors and exceptions*.
    """

    code: ClassVar[str] = "INS404"
    name: ClassVar[str] = "crash-before-training"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"
    last_resort: ClassVar[bool] = True

    def concerns(self, evidence: Crash) -> bool:
        return unexplained(evidence, "installation")

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        yield self.finding(
            "an error that no rule knows ended the program"
            + (" before anything had begun" if evidence.updates is not None else ""),
            where=evidence.where,
            seen=f"{evidence.said}{tensors_told(evidence)}",
            expected="no exception",
            help="read the traceback from its last line up: run the same line by itself",
            confidence=0.35,
        )
