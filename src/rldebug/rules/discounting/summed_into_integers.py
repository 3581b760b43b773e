"""Floats are added in place to a tensor of integers."""

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
class SummedIntoIntegers(Rule):
    """Floats are added in place to a tensor of integers.

    ## What it checks
    An operation in place failed: its result is of floats, and the tensor holds integers.

    ## Why it matters
    Returns and advantages are of floats, even where every reward is whole; γ makes them so.

    ## Likely causes
    1. The accumulator was made from whole numbers: `torch.tensor(rewards)`, `np.zeros_like(actions)`,
       `torch.zeros_like(done)`. Confirm: print its dtype.
    2. An image of bytes is scaled in place: `obs /= 255`. Confirm: the same.

    ## What to try first
    Make it of floats: `torch.zeros(n)`, `np.zeros(n, dtype=np.float32)`, or write `x = x / 255` in place of `x /= 255`.

    ## When it is fine
    Never: the program has ended.

    ## References
    PyTorch, *Tensor attributes*: promotion of types; NumPy, *Casting rules*.
    """

    code: ClassVar[str] = "DIS432"
    name: ClassVar[str] = "summed-into-integers"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        torch = evidence.says(r"result type (Float|Double|Half|BFloat16) can't be cast to the desired output type \w+")
        numpy = evidence.says(r"Cannot cast ufunc '\w+' output from dtype\('float\d+'\) to dtype\('(u?int\d+|bool)'\)")
        in_place = numpy or (torch and not evidence.inside("torch.nn.functional"))
        return in_place and place(evidence) != "environment"

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        yield self.finding(
            "floats were added in place to integers",
            where=evidence.where,
            seen=f"{evidence.said}{operands_told(evidence)}",
            expected="a tensor of floats on the left",
            help="make the tensor on the left of floats, torch.zeros(n) or .float(), or do not write in place: x = x "
            "+ y",
            confidence=0.9,
        )
