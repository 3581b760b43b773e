"""The program ends while the value loss is computed."""

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
class CrashInValueLoss(Rule):
    """The program ends while the value loss is computed.

    ## What it checks
    The program ended with an exception that no other rule explains, where a prediction meets its target.

    ## Why it matters
    The program has ended; where it did is all that is known.

    ## Likely causes
    1. The line that is named, or what it was given. Confirm: look at the values in `seen`.

    ## What to try first
    Print the shapes of prediction and target

    ## When it is fine
    Never: the program has ended.

    ## References
    Python, *Errors and exceptions*.
    """

    code: ClassVar[str] = "VAL403"
    name: ClassVar[str] = "crash-in-value-loss"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"
    last_resort: ClassVar[bool] = True

    def concerns(self, evidence: Crash) -> bool:
        return unexplained(evidence, "value-loss")

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        yield self.finding(
            "an error that no rule knows ended the program while the value loss was computed",
            where=evidence.where,
            seen=f"{evidence.said}{tensors_told(evidence)}",
            expected="no exception",
            help="read the traceback from its last line up: print the shapes of prediction and target",
            confidence=0.55,
        )
