"""The flags of several environments are used as if they were one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.signs import operands_told, ordered_by_priority
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class VectorFlagUsedAsOne(Rule):
    """The flags of several environments are used as if they were one.

    ## What it checks
    An array or tensor of more than one element was used as a condition.

    ## Why it matters
    A vector environment returns one flag for each of its environments.

    ## Likely causes
    1. `if done:` with a vector environment. Confirm: print the shape of what is asked.
    2. Two arrays are compared, and the comparison is used as a condition. Confirm: the same.

    ## What to try first
    Treat each environment by itself, or write `.any()` or `.all()`.

    ## When it is fine
    Never: the program has ended.

    ## References
    Gymnasium, `VectorEnv.step`.
    """

    code: ClassVar[str] = "ENV407"
    name: ClassVar[str] = "vector-flag-used-as-one"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return evidence.says(
            r"Boolean value of Tensor with more than one value is ambiguous",
            "truth value of an array with more than one element",
        ) and not ordered_by_priority(evidence)

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        yield self.finding(
            "an array of flags was used as one",
            where=evidence.where,
            seen=f"{evidence.said}{operands_told(evidence)}",
            expected="one flag, or .any() or .all() of several",
            help="treat each environment by itself, or write .any() or .all()",
            confidence=0.6,
        )
