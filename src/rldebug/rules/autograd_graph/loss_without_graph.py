"""The loss is a plain number: nothing can be learned from it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crash_signs import operands_told
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class LossWithoutGraph(Rule):
    """The loss is a plain number: nothing can be learned from it.

    ## What it checks
    `backward()` was called on a tensor that does not lead to any parameter.

    ## Why it matters
    No parameter can get a gradient from it.

    ## Likely causes
    1. Log-probs or values were stored as numbers, detached or under `no_grad`, and the loss is made from those.
       Confirm: `requires_grad` of each term of the loss.
    2. `torch.tensor(list_of_tensors)` copies the numbers and drops the graph. Confirm: look for it in the loss;
       `torch.stack` keeps it.
    3. The update itself runs under `torch.no_grad()`, or the parameters are frozen. Confirm: `torch.is_grad_enabled()`
       on the line before.

    ## What to try first
    Print `requires_grad` of each term of the loss, and go back from the first that is False.

    ## When it is fine
    Never: the program has ended.

    ## References
    PyTorch, *Autograd mechanics*.
    """

    code: ClassVar[str] = "GRA403"
    name: ClassVar[str] = "loss-without-graph"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return evidence.says("does not require grad and does not have a grad_fn")

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        yield self.finding(
            "the loss carries no graph",
            where=evidence.where,
            seen=f"{evidence.said}{operands_told(evidence)}",
            expected="a loss that leads back to the parameters",
            help="compute the log-prob or value anew in the update, without detach(), no_grad() or a way through NumPy",
            confidence=0.95,
        )
