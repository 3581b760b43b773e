"""The mean or spread of integers is asked for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.place import place
from rldebug.evidence.crashes.signs import operands_told
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class MeanOfIntegers(Rule):
    """The mean or spread of integers is asked for.

    ## What it checks
    `mean`, `std` or `var` refused a tensor of integers or flags.

    ## Why it matters
    Rewards that are whole numbers become a tensor of integers; PyTorch averages only floats.

    ## Likely causes
    1. `torch.tensor(rewards)` of whole numbers: the dtype is taken from the list. Confirm: print its dtype.
    2. A mask or a comparison is averaged: `(action == target).mean()`. Confirm: the same.

    ## What to try first
    Write `torch.tensor(rewards, dtype=torch.float32)`, or `.float()` before `mean`.

    ## When it is fine
    Never: the program has ended.

    ## References
    PyTorch, `torch.mean`.
    """

    code: ClassVar[str] = "ADV431"
    name: ClassVar[str] = "mean-of-integers"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return (
            evidence.says(
                r"(mean|nanmean)\(\): (could not infer output dtype|input dtype should be|expected input to be "
                r"floating)",
                "std and var only support floating point",
                r"Can only calculate the mean of floating",
            )
            and place(evidence) != "environment"
        )

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        yield self.finding(
            "the mean of integers was asked for",
            where=evidence.where,
            seen=f"{evidence.said}{operands_told(evidence)}",
            expected="a tensor of floats",
            help="write torch.tensor(rewards, dtype=torch.float32), or .float() before .mean()",
            confidence=0.9,
        )
