"""The program ends in the work around training."""

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
class CrashAroundTraining(Rule):
    """The program ends in the work around training.

    ## What it checks
    The program ended with an exception that no other rule explains, in the counting, logging or evaluation around the
    training.

    ## Why it matters
    The program has ended; where it did is all that is known.

    ## Likely causes
    1. The line that is named, or what it was given. Confirm: look at the values in `seen`.

    ## What to try first
    Print what the line was given

    ## When it is fine
    Never: the program has ended.

    ## References
    Python, *Errors and exceptions*.
    """

    code: ClassVar[str] = "EVA402"
    name: ClassVar[str] = "crash-around-training"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"
    last_resort: ClassVar[bool] = True

    def concerns(self, evidence: Crash) -> bool:
        return unexplained(evidence, "evaluation")

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        yield self.finding(
            "an error that no rule knows ended the program in the work around training",
            where=evidence.where,
            seen=f"{evidence.said}{tensors_told(evidence)}",
            expected="no exception",
            help="read the traceback from its last line up: print what the line was given",
            confidence=0.35,
        )
