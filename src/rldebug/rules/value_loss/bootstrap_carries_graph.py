"""The bootstrapped side of a value loss carries a graph."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.graph import Graph
from rldebug.evidence.tensors import listed
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class BootstrapCarriesGraph(Rule):
    """The target of a value loss is trained to meet the prediction.

    ## What it checks
    A regression in the graph of a loss, or a difference that is squared, of which both sides carry a graph; and one
    side is built like a bootstrapped target: something without a graph (the reward) is added to what a network gave,
    scaled by something without a graph (the discount). Exact.

    ## Why it matters
    The gradient moves the next state's value towards this one's, as well as this one's towards the next: the two meet
    at values that no reward has asked for, and learning is slow and biased.

    ## Likely causes
    1. The target is computed outside of `torch.no_grad()`. Confirm: `target.requires_grad` in the line of the loss.
    2. `.detach()` is on the prediction instead of the target. Confirm: read the line.

    ## What to try first
    Compute the target under `torch.no_grad()`.

    ## When it is fine
    Residual-gradient methods, which mean it.

    ## References
    Baird, *Residual Algorithms: Reinforcement Learning with Function Approximation*. Sutton and Barto, *Reinforcement
    Learning*, section 11.5.
    """

    code: ClassVar[str] = "VAL800"
    name: ClassVar[str] = "bootstrap-carries-graph"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Graph"
    follows: ClassVar[tuple[str, ...]] = ("VAL300", "GRA006", "TGT004")

    def concerns(self, evidence: Graph) -> bool:
        return bool(evidence.losses)

    def check(self, evidence: Graph) -> Iterator[Finding]:
        told: set[str] = set()
        for sign in evidence.signed("bootstrap"):
            loss = sign["losses"][0]
            if loss in told:
                continue
            told.add(loss)
            shape = "×".join(map(str, sign["shape"])) or "scalar"
            yield self.finding(
                f"the target in {loss} carries a graph",
                where=evidence.where(loss, "target"),
                seen=f"{sign['operation']} compares {listed(sign['predicted'])} with a discounted value ({shape}) that "
                f"leads to {listed(sign['units'])}",
                expected="a target without a graph: gradients flow into the prediction only",
                help="compute the target under torch.no_grad(), or add .detach() to it",
                confidence=0.93,
            )
