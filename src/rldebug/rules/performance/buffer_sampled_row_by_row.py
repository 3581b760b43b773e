"""Batches are drawn from the replay buffer row by row."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.timing import WORTH, Slice, Timing, total
from rldebug.evidence.timings.amounts import of_the_run
from rldebug.evidence.timings.loops import in_network, places, trains
from rldebug.evidence.timings.rows import row_by_row
from rldebug.evidence.timings.telling import lasting, weight
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class BufferSampledRowByRow(Rule):
    """Batches are drawn from the replay buffer row by row.

    ## What it checks
    Time before each update that is spent in drawing rows from a list or a deque with `random.sample`, in looking them
    up one by one, in parting them with `zip(*batch)`, and in stacking what came out.

    ## Why it matters
    A row in a deque is found by walking there, and each one that is drawn is copied by Python on its own. Columns in
    arrays give the same batch with one index for all rows.

    ## Likely causes
    1. The buffer is a deque or a list of tuples. Confirm: read where it is made.
    2. The buffer has arrays, but is read in a loop over indices. Confirm: read the line that is named.

    ## What to try first
    Keep a column per field in one array each, and read `obs[index]` once, as `rldebug.parts.buffers.Replay` does.

    ## When it is fine
    Small batches, and updates that take much longer than this.

    ## References
    Python, *collections.deque*: indexed access in the middle is slow.
    """

    code: ClassVar[str] = "PRF929"
    name: ClassVar[str] = "buffer-sampled-row-by-row"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Timing"

    otherwise: float = 0.15  # of the time is left, where it was not measured on this machine

    def check(self, evidence: Timing) -> Iterator[Finding]:
        found = evidence.of(where=lambda each: _before_an_update(each) and _by_row(evidence, each))
        if not found:
            return
        seconds, measured = total(found), evidence.yardstick.get("rollout_buffer")
        times = max(1, evidence.updates)
        sample = measured.detail.get("sample") if measured is not None else None
        instead = self.otherwise * seconds if sample is None else sample * times
        speedup = evidence.speedup(seconds, instead)
        if speedup < WORTH:
            return
        yield self.finding(
            "batches are drawn from the buffer row by row",
            where=evidence.where(found),
            seen=f"{lasting(seconds / times)} per update, {of_the_run(evidence, seconds)}",
            expected="a tenth of it or less, with one index for all rows"
            if measured is None or sample is None
            else f"{measured.what}: {lasting(sample)} for a batch on this machine",
            help="keep each field in one array and read it with all indices at once (rldebug.parts.buffers.Replay)",
            confidence=0.85,
            severity=weight(speedup),
            speedup=speedup,
        )


def _before_an_update(piece: Slice) -> bool:
    parts = ("copies", "advantages", "other", "loss")
    before = piece.after == "backward" and piece.before != "start" and piece.part in parts
    return not piece.inside and not in_network(piece) and (before or piece.part == "buffer sample")


def _by_row(timing: Timing, piece: Slice) -> bool:
    source, node = next(places(timing, piece), (None, None))
    if source is None or node is None:
        return False
    return row_by_row(source, node, learns=lambda loop: trains(timing, loop))
