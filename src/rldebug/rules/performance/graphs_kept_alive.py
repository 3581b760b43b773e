"""A list of the program keeps the graph of every update."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.timing import WORTH, Held, Timing
from rldebug.evidence.timings.growth import added_at, grows, sized
from rldebug.evidence.timings.trend import slowest
from rldebug.finding import Finding, Severity, thousands
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class GraphsKeptAlive(Rule):
    """A container of the program keeps graphs of autograd, ever more.

    ## What it checks
    Containers that were looked at several times in the run: one gets longer at every look, over many updates, and a
    good part of its items are tensors that still hold their graph.

    ## Why it matters
    A tensor with its graph keeps every tensor that it was computed from: memory grows by a whole forward pass at a
    time, and Python's collector of garbage has ever more to go through.

    ## Likely causes
    1. Losses or returns are kept for a plot without `.item()` or `.detach()`. Confirm: print `losses[0].grad_fn`.
    2. Log-probs or values are stored in a buffer that outlives the update. Confirm: the same.

    ## What to try first
    Append `loss.item()`, or `loss.detach()` where the number would make the host wait for a GPU.

    ## When it is fine
    Where the next update goes back through all of them, as in truncated backpropagation through time.

    ## References
    PyTorch documentation, *Frequently Asked Questions* (do not accumulate history across your training loop).
    """

    code: ClassVar[str] = "PRF912"
    name: ClassVar[str] = "graphs-kept-alive"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Timing"
    explains: ClassVar[tuple[str, ...]] = ("PRF001", "PRF004", "PRF922", "PRF923")

    graphs: int = 50  # items with a graph at the last look
    part: float = 0.2  # of the items that hold one
    growth: float = 1.3  # items at the last look over those at the first
    updates: int = 10  # that it must have outlived

    def check(self, evidence: Timing) -> Iterator[Finding]:
        kept = [each for each in evidence.held if self._keeps(evidence, each) and not sized(evidence, each)]
        for held in sorted(kept, key=lambda each: -each.graphs)[:1]:
            trend = slowest(evidence)
            faster = None if trend is None else evidence.speedup(trend.lost)
            grown = [each.resident for each in evidence.windows if each.resident]
            yield self.finding(
                f"`{held.name}` keeps the graph of what is put into it",
                where=added_at(evidence, held),
                seen=f"{thousands(held.graphs)} of {thousands(held.items[-1])} items hold a graph, after "
                f"{thousands(held.items[0])} items at the first look and never fewer since"
                + (f"; memory of the process grew by {(grown[-1] - grown[0]) / 2**20:.0f} MB" if grown else "")
                + (f"; {trend.part} takes {trend.last / trend.first:.1f} times as long as first" if trend else ""),
                expected="numbers, or tensors that were detached",
                help="put .item() or .detach() behind what is kept",
                confidence=0.9,
                speedup=faster if faster is not None and faster >= WORTH else None,
            )

    def _keeps(self, timing: Timing, held: Held) -> bool:
        if not grows(held, looks=2) or held.graphs < max(self.graphs, self.part * held.items[-1]):
            return False
        return held.items[-1] >= self.growth * held.items[0] and self._outlived(timing, held) >= self.updates

    def _outlived(self, timing: Timing, held: Held) -> int:
        """Updates between the first look at it and the last."""
        return sum(
            each.updates
            for each in timing.windows
            if each.began >= held.at[0] and each.began + each.seconds <= held.at[-1]
        )
