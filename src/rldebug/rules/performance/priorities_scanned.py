"""Each batch looks at all priorities, or walks a tree in Python."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.timing import WORTH, Slice, Timing, total
from rldebug.evidence.timings.amounts import of_the_run, told
from rldebug.evidence.timings.loops import in_network, places
from rldebug.evidence.timings.priorities import scans, sorts, walks_tree
from rldebug.evidence.timings.telling import lasting, weight
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule

_PARTS = ("buffer sample", "buffer write", "advantages", "other")


@dataclass(frozen=True, kw_only=True)
class PrioritiesScanned(Rule):
    """Each batch looks at all priorities, or walks a tree in Python.

    ## What it checks
    Time before an update that is spent in `np.random.choice(…, p=…)`, `torch.multinomial`, powers, sums and sorts of
    all priorities; or, before and after an update, in a sum-tree whose nodes are visited by Python one by one.

    ## Why it matters
    A draw from a million priorities reads a million numbers, several times, for each batch of 64. A tree needs twenty
    for each row; in Python these take twenty microseconds, in a compiled loop less than one.

    ## Likely causes
    1. Probabilities are computed anew for each batch. Confirm: fill the buffer to twice the size; it takes twice as
       long.
    2. A sum-tree in Python is asked row by row. Confirm: read the lines that are named.

    ## What to try first
    Use a tree that a compiled loop walks for the whole batch, as `rldebug.parts.buffers.PrioritisedReplay` does.

    ## When it is fine
    Buffers of a few thousand rows.

    ## References
    Schaul et al., *Prioritized Experience Replay* (appendix B.2.1, sum-tree).
    """

    code: ClassVar[str] = "PRF903"
    name: ClassVar[str] = "priorities-scanned"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Timing"

    otherwise: float = 0.2  # of the time is left, where it was not measured on this machine

    def check(self, evidence: Timing) -> Iterator[Finding]:
        scanned = evidence.of(where=lambda each: _samples(each) and _at(evidence, each, scan=True))
        walked = evidence.of(where=lambda each: _near_update(each) and _at(evidence, each, scan=False))
        if not any(_samples(each) for each in walked):
            walked = []  # some other tree
        found = sorted({*scanned, *walked}, key=lambda each: -each.seconds)
        if not found:
            return
        seconds, measured = total(found), evidence.yardstick.get("prioritised")
        times = max(1, evidence.updates)
        instead = self.otherwise * seconds if measured is None else measured.seconds * times
        speedup = evidence.speedup(seconds, instead)
        if speedup < WORTH:
            return
        yield self.finding(
            "each batch looks at all priorities"
            if total(scanned) > total(walked)
            else "a tree of priorities is walked in Python, node by node",
            where=evidence.where(found),
            seen=f"{lasting(seconds / times)} per update, {of_the_run(evidence, seconds)}",
            expected=told(measured, "a fifth of it or less, with a tree that a compiled loop walks"),
            help="draw from a sum-tree, for the whole batch at once (rldebug.parts.buffers.PrioritisedReplay)",
            confidence=0.85,
            severity=weight(speedup),
            speedup=speedup,
        )


def _samples(piece: Slice) -> bool:
    before = piece.part in ("advantages", "other") and piece.after == "backward"
    return not piece.inside and not in_network(piece) and (piece.part == "buffer sample" or before)


def _near_update(piece: Slice) -> bool:
    """Sampled before an update, renewed after it; new rows are put in at each step."""
    return not piece.inside and not in_network(piece) and piece.part in _PARTS


def _at(timing: Timing, piece: Slice, *, scan: bool) -> bool:
    source, node = next(places(timing, piece), (None, None))
    if source is None or node is None:
        return False
    if not scan:
        return walks_tree(source, node)
    return scans(source, node) or (piece.part == "buffer sample" and sorts(source, node))
