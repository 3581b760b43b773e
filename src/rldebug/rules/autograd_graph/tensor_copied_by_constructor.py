"""A tensor is made from a tensor with `torch.tensor`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.signs import told
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class TensorCopiedByConstructor(Rule):
    """A tensor is made from a tensor with `torch.tensor`.

    ## What it checks
    PyTorch warned that `torch.tensor` was given a tensor.

    ## Why it matters
    The copy has no graph: a loss that is computed from it teaches nothing to what came before. Where that is not meant,
    nothing is said later.

    ## Likely causes
    1. A log-prob, value or loss is wrapped once more. Confirm: `requires_grad` of what is wrapped.
    2. Data that is a tensor already is converted again. Confirm: print its type.

    ## What to try first
    Leave the call away; write `.detach().clone()` where a copy without graph is meant, `torch.as_tensor` where both may
    come.

    ## When it is fine
    When a copy without graph is meant: it is one.

    ## References
    PyTorch, `torch.tensor`.
    """

    code: ClassVar[str] = "GRA430"
    name: ClassVar[str] = "tensor-copied-by-constructor"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return evidence.says("To copy construct from a tensor, it is recommended")

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        name = next((name for name, fact in evidence.operands().items() if fact.get("ops")), "")
        copied = [f"{each} is {told(fact)}" for each, fact in evidence.operands().items() if fact["kind"] == "tensor"]
        yield self.finding(
            f"{name} lost its graph in torch.tensor" if name else "a tensor was made from a tensor with torch.tensor",
            where=evidence.where,
            seen=f"{evidence.said}{f'; {copied[0]}' if copied else ''}",
            expected="the tensor itself, torch.stack of several, or .detach().clone()",
            help="leave torch.tensor away, or write .detach().clone() where a copy without graph is meant",
            confidence=0.85 if name else 0.5,
        )
