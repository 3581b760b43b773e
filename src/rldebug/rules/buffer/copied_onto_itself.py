"""A tensor is shifted onto itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.signs import operands_told
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class CopiedOntoItself(Rule):
    """A tensor is shifted onto itself.

    ## What it checks
    An assignment failed because source and destination share memory.

    ## Why it matters
    A history that is shifted in place reads what it has just overwritten.

    ## Likely causes
    1. `x[:-1] = x[1:]` on a tensor. Confirm: look at the line.
    2. An expanded tensor is written to: many elements share one place. Confirm: its `stride()` holds a 0.

    ## What to try first
    Write `x[:-1] = x[1:].clone()`, or use `torch.roll`.

    ## When it is fine
    Never: the program has ended.

    ## References
    PyTorch, *Tensor views*.
    """

    code: ClassVar[str] = "BUF406"
    name: ClassVar[str] = "copied-onto-itself"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return evidence.says("refer to a single memory location", "more than one element of the written-to tensor")

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        yield self.finding(
            "a tensor was shifted onto itself",
            where=evidence.where,
            seen=f"{evidence.said}{operands_told(evidence)}",
            expected="source and destination that share no memory",
            help="clone the source, or use torch.roll",
            confidence=0.85,
        )
