"""Batches are stacked from Python lists of single steps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.timing import WORTH, Slice, Timing, total
from rldebug.evidence.timings.amounts import of_the_run
from rldebug.evidence.timings.loops import in_network, places
from rldebug.evidence.timings.rows import drawn, of_a_list, stacking
from rldebug.evidence.timings.telling import lasting, weight
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class BufferStackedFromList(Rule):
    """Batches are stacked from Python lists of single steps.

    ## What it checks
    Time before learning that is spent in `torch.stack`, `torch.cat`, `torch.tensor`, `np.array` and their like, on a
    list that was filled step by step.

    ## Why it matters
    Each row is an object of its own that has to be looked at and copied, with microseconds for each; from one array of
    the final size, the whole rollout is a view.

    ## Likely causes
    1. Steps are appended to lists and stacked before each update. Confirm: read the line that is named.
    2. They are stacked again in each epoch, though they have not changed. Confirm: print in the loop over epochs.

    ## What to try first
    Fill arrays that are as large as a rollout, `obs[t] = …`, as `rldebug.parts.buffers.RolloutBuffer` does.

    ## When it is fine
    Episodes whose length is not known, a few hundred steps each.

    ## References
    NumPy, *numpy.stack*; PyTorch, `torch.stack`.
    """

    code: ClassVar[str] = "PRF901"
    name: ClassVar[str] = "buffer-stacked-from-list"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Timing"

    otherwise: float = 0.1  # of the time is left, where it was not measured on this machine

    def check(self, evidence: Timing) -> Iterator[Finding]:
        found = evidence.of(where=lambda each: _before_learning(each) and _list_of(evidence, each) is not None)
        if not found:
            return
        seconds, measured = total(found), evidence.yardstick.get("rollout_buffer")
        often = total(each for each in found if each.before == "update") > seconds / 2
        times = max(1, evidence.updates if often else evidence.phases)
        detail = {} if measured is None else measured.detail
        once = detail.get("sample" if often else "take", measured.seconds if measured is not None else 0.0)
        instead = self.otherwise * seconds if measured is None else once * times
        speedup = evidence.speedup(seconds, instead)
        if speedup < WORTH:
            return
        what = _list_of(evidence, found[0])
        yield self.finding(
            "batches are stacked from lists, step by step",
            where=evidence.where(found),
            seen=f"{lasting(seconds / times)} per {'update' if often else 'rollout'} to stack {what}, "
            f"{of_the_run(evidence, seconds)}",
            expected="a tenth of it or less, from arrays of the final size"
            if measured is None
            else f"{measured.what}: {lasting(once)} on this machine",
            help="stack once per rollout, before the epochs, or write each step into arrays of the final size"
            if often
            else "write each step into arrays of the final size (rldebug.parts.buffers.RolloutBuffer)",
            confidence=0.85,
            severity=weight(speedup),
            speedup=speedup,
        )


def _before_learning(piece: Slice) -> bool:
    return not piece.inside and (piece.after == "backward" or piece.part == "advantages") and piece.before != "start"


def _list_of(timing: Timing, piece: Slice) -> str | None:
    """The list that is made into one array there; not where rows of it were drawn."""
    source, node = next(places(timing, piece), (None, None))
    if source is None or node is None or in_network(piece):
        return None
    call = stacking(source, node)
    if call is None or not of_a_list(source, call.args[0]) or drawn(source, call.args[0]):
        return None
    return source.quoted(call.args[0])
