"""A gradient is used that was never computed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class GradientIsNone(Rule):
    """A gradient is used that was never computed.

    ## What it checks
    The program ended because the gradient of a parameter is None, or because `autograd.grad` was asked for a tensor
    that the loss does not use.

    ## Why it matters
    The loss does not reach that parameter, so it would not be trained.

    ## Likely causes
    1. The loss was detached from this network, or is another network's. Confirm: print which parameters have no
       gradient.
    2. The gradient is read before `backward()`, or after `zero_grad()`. Confirm: look at the order of the three lines.
    3. A head that this loss does not use is among the parameters. Confirm: the same.

    ## What to try first
    List the parameters whose `grad` is None after `backward()`.

    ## When it is fine
    Never: the program has ended.

    ## References
    PyTorch, *Autograd mechanics*.
    """

    code: ClassVar[str] = "GRA407"
    name: ClassVar[str] = "gradient-is-none"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        none = evidence.says("'NoneType' object has no attribute|unsupported operand type.*NoneType")
        line = evidence.at.source if evidence.at else ""
        return evidence.says("appears to not have been used in the graph") or (none and ".grad" in line)

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        yield self.finding(
            "a gradient was used that was never computed",
            where=evidence.where,
            seen=f"{evidence.said}, in `{evidence.at.expression if evidence.at else ''}`",
            expected="a loss that reaches every parameter whose gradient is read",
            help="list the parameters whose grad is None after backward(), and follow the loss back to them",
            confidence=0.85,
        )
