"""Most of what is kept for the backward pass is kept by one module."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.graph import Graph
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule

_MIB = 1024 * 1024


@dataclass(frozen=True, kw_only=True)
class GraphKeptInOneModule(Rule):
    """Most of what is kept for the backward pass is kept by one module.

    ## What it checks
    What the operations of a graph have saved for the backward pass, each storage once and without the weights
    themselves, by module. A note where all together is large and more than half of it lies in one module.

    ## Why it matters
    It is what fills the memory of a GPU between forward and backward pass; this says where to save.

    ## Likely causes
    1. A network on images is called with a large batch. Confirm: the shapes at its arrows in the picture.
    2. Steps of a long rollout are kept with their graphs. Confirm: the count on its box.

    ## What to try first
    Smaller minibatches with accumulated gradients; then `torch.utils.checkpoint` around that module.

    ## When it is fine
    Where it fits; this is a note.

    ## References
    PyTorch, *Hooks for autograd saved tensors*. PyTorch, `torch.utils.checkpoint`.
    """

    code: ClassVar[str] = "PRF800"
    name: ClassVar[str] = "graph-kept-in-one-module"
    severity: ClassVar[Severity] = "note"
    reads: ClassVar[str] = "Graph"

    mebibytes: float = 256.0  # that are kept in all, at least
    share: float = 0.5  # of them in one module

    def concerns(self, evidence: Graph) -> bool:
        return bool(evidence.losses)

    def check(self, evidence: Graph) -> Iterator[Finding]:
        if evidence.freed:
            raise NotEnough("the backward pass has run already, and what was saved is gone")
        if evidence.saved < self.mebibytes * _MIB:
            return
        modules = [each for each in evidence.boxes if each.kind == "module" and each.module]
        most = max(modules, key=lambda each: each.saved, default=None)
        if most is None or most.saved < self.share * evidence.saved:
            return
        calls = f" in {most.times} calls" if most.times > 1 else ""
        yield self.finding(
            f"{most.title} keeps {most.saved / evidence.saved:.0%} of what the backward pass needs",
            where=evidence.where(tensor=most.title),
            seen=f"{most.saved / _MIB:,.0f} MiB of {evidence.saved / _MIB:,.0f} MiB are saved by {most.title}{calls}",
            expected="memory enough, or smaller minibatches",
            help=f"split the minibatch, or wrap {most.title} in torch.utils.checkpoint",
            confidence=0.9,
        )
