"""One of several losses carries no graph."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.graph import Graph
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class LossCutOff(Rule):
    """One of several losses carries no graph.

    ## What it checks
    Of the losses that were handed over to `rldebug.graph` some have a graph, and one has none: it leads to no
    parameter at all. Exact.

    ## Why it matters
    Added to the others it changes the number that is printed, and nothing that is learned.

    ## Likely causes
    1. It is made from values that were stored while acting, under `torch.no_grad()`, instead of being computed anew
       for the batch. Confirm: print `requires_grad` of each tensor in its line.
    2. A detour through numpy, `.item()`, `.data` or `torch.tensor(...)`. Confirm: the same, from the network on.
    3. The network is frozen with `requires_grad_(False)`. Confirm: its parameters.

    ## What to try first
    Call the network on the batch in the line of the loss, outside of `torch.no_grad()`.

    ## When it is fine
    A number that is only logged: leave it out.

    ## References
    PyTorch, *Autograd mechanics*.
    """

    code: ClassVar[str] = "GRA801"
    name: ClassVar[str] = "loss-cut-off"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Graph"
    follows: ClassVar[tuple[str, ...]] = ("GRA009",)

    def concerns(self, evidence: Graph) -> bool:
        return bool(evidence.losses)

    def check(self, evidence: Graph) -> Iterator[Finding]:
        whole = [each.name for each in evidence.losses if each.nodes]
        for loss in evidence.losses:
            if not loss.nodes and whole:
                yield self.finding(
                    f"the loss {loss.name} carries no graph",
                    where=evidence.where(loss.name, loss.name),
                    seen=f"{loss.name}.requires_grad is False, and True for {' and '.join(whole)}",
                    expected="a loss that backward() can follow to a network",
                    help=f"compute what {loss.name} is made of outside of no_grad(), without detach() or numpy",
                    confidence=0.95,
                )
