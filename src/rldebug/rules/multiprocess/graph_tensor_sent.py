"""A tensor with a graph is sent to another process."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.bound import bound
from rldebug.evidence.crashes.signs import told
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class GraphTensorSent(Rule):
    """A tensor with a graph is sent to another process.

    ## What it checks
    PyTorch refused to send a tensor that is not a leaf and requires grad.

    ## Why it matters
    A graph lives in one process. A learner cannot differentiate through what an actor computed elsewhere.

    ## Likely causes
    1. An actor puts log-probs, values or a recurrent state on a queue as its network gave them. Confirm: the tensor
       has a `grad_fn`.
    2. A rollout that is sent as a whole holds one such tensor. Confirm: the path that is named.

    ## What to try first
    Collect under `torch.no_grad()`.

    ## When it is fine
    Never: the program has ended.

    ## References
    PyTorch, *Multiprocessing best practices*; IMPALA and A3C send data, not graphs.
    """

    code: ClassVar[str] = "MPR450"
    name: ClassVar[str] = "graph-tensor-sent"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return evidence.says("serialize non-leaf tensor")

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        sent = evidence.between.get("sent", {})
        name = sent.get("path", "") or _argument(evidence)
        tensor = f"; {name or 'it'} is {told(sent['tensor'])}" if sent.get("tensor") else ""
        origin = bound(evidence, evidence.at, name.partition("[")[0]) if name else None
        came = f", made in {origin.place} by `{origin.text}`" if origin else ""
        yield self.finding(
            f"{name or 'a tensor'} carries a graph and was sent to another process",
            where=evidence.where,
            seen=f"{evidence.said}{tensor}{came}",
            expected="data: a tensor without a graph",
            help=f"collect under torch.no_grad(), or send {name or 'the tensor'}.detach(); the learner computes its "
            "log-probs and values anew",
            confidence=0.95,
        )


def _argument(evidence: Crash) -> str:
    """What was sent itself, by the line that sent it."""
    tensors = [name for name, fact in evidence.operands().items() if fact["kind"] == "tensor" and fact.get("ops")]
    return tensors[0] if len(tensors) == 1 else ""
