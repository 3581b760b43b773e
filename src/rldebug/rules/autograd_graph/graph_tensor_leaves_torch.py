"""A tensor with a graph is turned into data without detaching it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crash_signs import operands_told
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class GraphTensorLeavesTorch(Rule):
    """A tensor with a graph is turned into data without detaching it.

    ## What it checks
    `numpy()`, `deepcopy()` or sending to another process was asked of a tensor that carries a graph.

    ## Why it matters
    What leaves the graph should do so on purpose: an action for the environment, a state for the buffer.

    ## Likely causes
    1. The policy acts outside of `torch.no_grad()`. Confirm: the tensor is an action or a log-prob.
    2. An object that is copied or sent holds a tensor of the last pass, as a recurrent state. Confirm: detach it there.

    ## What to try first
    Act under `torch.no_grad()`.

    ## When it is fine
    Never: the program has ended.

    ## References
    PyTorch, *Autograd mechanics*.
    """

    code: ClassVar[str] = "GRA405"
    name: ClassVar[str] = "graph-tensor-leaves-torch"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return evidence.says(
            r"Can't call numpy\(\) on Tensor that requires grad",
            "support the deepcopy protocol",
            "serialize non-leaf tensor",
        )

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        yield self.finding(
            "a tensor with a graph was to become data",
            where=evidence.where,
            seen=f"{evidence.said}{operands_told(evidence)}",
            expected="a detached tensor",
            help="act under torch.no_grad(), or write .detach() before it leaves",
            confidence=0.95,
        )
