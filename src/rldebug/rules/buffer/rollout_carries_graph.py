"""What was collected step by step still carries the graphs of acting."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.graph import Graph
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class RolloutCarriesGraph(Rule):
    """What was collected step by step still carries the graphs of acting.

    ## What it checks
    In the graph of a loss, outputs of a network at single steps (eight or more) are stacked, concatenated or written
    into a buffer with their graphs; and they meet, row by row, what the same network gives for a whole batch. The loss
    then trains the network through its old outputs too, which are data.

    ## Why it matters
    An old log-prob with a graph makes the ratio's gradient vanish; an old value with a graph makes the advantage train
    the critic. The second epoch stops with *backward through the graph a second time*, or, with `retain_graph=True`,
    goes on wrongly.

    ## Likely causes
    1. Acting is not under `torch.no_grad()`, and log-probs or values are stored as they come. Confirm:
       `buffer.logp[0].requires_grad`.
    2. Advantages are computed from stored values that carry a graph. Confirm: `advantage.requires_grad`.

    ## What to try first
    Collect under `torch.no_grad()`.

    ## When it is fine
    Methods that backpropagate through the rollout on purpose; those do not call the network again for the batch.

    ## References
    Huang et al., *The 37 Implementation Details of Proximal Policy Optimization*.
    """

    code: ClassVar[str] = "BUF800"
    name: ClassVar[str] = "rollout-carries-graph"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Graph"
    follows: ClassVar[tuple[str, ...]] = ("GRA006", "ADV300", "VAL300")

    def concerns(self, evidence: Graph) -> bool:
        return bool(evidence.losses)

    def check(self, evidence: Graph) -> Iterator[Finding]:
        how = {"stack": "stacked", "cat": "concatenated", "copy_slices": "written into a buffer"}
        for sign in evidence.signed("stacked"):
            loss = sign["losses"][0]
            yield self.finding(
                f"data of {sign['steps']} steps in {loss} carry the graph of {sign['unit']}",
                where=evidence.where(loss, sign["unit"]),
                seen=f"outputs of {sign['unit']} at {sign['steps']} steps ({sign['rows']} rows each) are "
                f"{how[sign['operation']]} with their graphs, and meet its outputs for {sign['batch']} rows",
                expected="collected data without a graph",
                help="collect under torch.no_grad(), or store .detach() of log-probs and values",
                confidence=0.9,
            )
