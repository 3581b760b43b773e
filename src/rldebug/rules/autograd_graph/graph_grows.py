"""The graph of a loss grows from update to update."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

from rldebug.evidence.graph import Graph, Size
from rldebug.finding import Finding, Severity, Where, thousands
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class GraphGrows(Rule):
    """The graph of a loss grows from update to update.

    ## What it checks
    The number of nodes behind a loss, at updates ever further apart (1, 2, 4, 8 …), and how many of them were made
    before the last time it was counted. It fires where the number grows each time and a good part of the nodes is that
    old: the loss still hangs on to the graphs of earlier updates. Longer episodes make larger graphs too, of new
    nodes.

    ## Why it matters
    Every backward pass runs through all earlier updates again, with weights that have changed since. Memory and time
    per update grow until one of them runs out.

    ## Likely causes
    1. A recurrent state is carried over into the next rollout without `.detach()`. Confirm: `hidden.grad_fn` at the
       start of a rollout.
    2. A running sum of losses or rewards keeps its graph: `total = total + loss`. Confirm: `total.requires_grad`.
    3. `retain_graph=True` was added to silence *backward through the graph a second time*. Confirm: remove it, and
       read what the error names.

    ## What to try first
    `state = state.detach()` at the start of each rollout, and `loss.item()` for what is only logged.

    ## When it is fine
    Never, where the weights are stepped in between.

    ## References
    PyTorch, *Frequently Asked Questions*: my model reports out of memory, accumulated history.
    """

    code: ClassVar[str] = "GRA803"
    name: ClassVar[str] = "graph-grows"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Graph"

    times: int = 4  # that it was counted, and was larger each time
    growth: float = 2.0  # from the first of these to the last
    old: float = 0.25  # of its nodes, at the last, were made before the one before it

    def concerns(self, evidence: Graph) -> bool:
        return bool(evidence.sizes)

    def check(self, evidence: Graph) -> Iterator[Finding]:
        lines: dict[tuple[str, int] | None, list[Size]] = {}
        for each in evidence.sizes:
            lines.setdefault(each.line, []).append(each)
        if all(len(each) < self.times for each in lines.values()):
            raise NotEnough(f"no loss was seen at {self.times} updates")
        for line, sizes in lines.items():
            last = sizes[-self.times :]
            if len(last) < self.times or not self._grows(last):
                continue
            file, number = line if line is not None else (None, None)
            told = ", ".join(
                f"{thousands(each.nodes)}{'+' * each.bounded} at {thousands(each.update)}" for each in last
            )
            yield self.finding(
                "the graph of the loss grows from update to update",
                where=Where(file=file, line=number, update=last[-1].update),
                seen=f"nodes by update: {told}; {thousands(last[-1].old)} of the last were made before update "
                f"{thousands(last[-2].update)}",
                expected="graphs that begin anew after each update",
                help="detach what is carried from one update to the next: the recurrent state, sums that are logged",
                confidence=0.95,
            )

    def _grows(self, sizes: list[Size]) -> bool:
        pairs = pairwise(sizes)
        larger = all(after.nodes > before.nodes or (after.bounded and before.bounded) for before, after in pairs)
        last = sizes[-1]
        return larger and last.nodes >= self.growth * sizes[0].nodes and last.old >= self.old * last.nodes
