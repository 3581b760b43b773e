"""A loss leads to its own network, and beside it to one that another loss trains."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.graph import Graph
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class LossTrainsAnotherNetwork(Rule):
    """A loss trains, beside its own network, one that another loss trains.

    ## What it checks
    Losses that were handed over by name, or those of one update. One of them leads to a network of its own, and to a
    second one that another loss leads to as well. The two networks stand side by side in its graph: neither takes from
    the other. So the loss neither passes through the second to train the first, as the actor's loss of SAC does, nor
    are they a trunk and its head.

    ## Why it matters
    The second network gets the sum of two gradients. A policy loss with its advantage attached makes the critic
    explain away what the policy did well.

    ## Likely causes
    1. The advantage is `return − value` with the graph of the value in it. Confirm: `advantage.requires_grad`.
    2. A baseline, bonus or weight of a loss is computed by another network without `torch.no_grad()`. Confirm: follow
       the arrow from that network in the picture.

    ## What to try first
    `.detach()` on what the other network gave, in the line of this loss.

    ## When it is fine
    A loss that is meant to train both; or gradients of the second network that are cleared before its own loss. Then
    the backward pass through it is only wasted time.

    ## References
    Mnih et al., *Asynchronous Methods for Deep Reinforcement Learning*.
    """

    code: ClassVar[str] = "GRA802"
    name: ClassVar[str] = "loss-trains-another-network"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Graph"
    follows: ClassVar[tuple[str, ...]] = ("GRA007", "GRA006", "ADV300", "GRA300", "VAL300", "VAL800", "BUF800")

    def concerns(self, evidence: Graph) -> bool:
        return len(evidence.losses) > 1

    def check(self, evidence: Graph) -> Iterator[Finding]:
        told: set[tuple[str, str]] = set()
        for sign in evidence.signed("beside"):
            loss = sign["losses"][0]
            if (loss, sign["other"]) in told:
                continue
            told.add((loss, sign["other"]))
            yield self.finding(
                f"{loss} trains {sign['unit']} too, which {sign['other']} trains",
                where=evidence.where(loss, sign["unit"]),
                seen=f"the graph of {loss} leads to {sign['own']} and, beside it, to {sign['unit']}; that of "
                f"{sign['other']} to {sign['unit']} and not to {sign['own']}",
                expected=f"{loss} to lead to {sign['own']} alone",
                help=f"detach what {sign['unit']} gave where {loss} uses it: an advantage, a baseline, a weight",
                confidence=0.8,
            )
