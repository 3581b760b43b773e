"""Wrappers of the environment take longer than the environment."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.timing import WORTH, Slice, Spot, Timing, total
from rldebug.evidence.timings.calling import stepped_at
from rldebug.evidence.timings.telling import lasting
from rldebug.finding import Finding, Severity, Where
from rldebug.rule import Rule


def _wrapper(each: Slice) -> Spot | None:
    """The innermost line that stands in a wrapper."""
    return next((spot for spot in reversed(each.stack) if "wrapper" in (spot.kind, spot.role)), each.user)


def _hottest(slices: list[Slice]) -> tuple[Spot | None, list[Slice]]:
    """The wrapper that takes most, and its time."""
    spots: dict[tuple[str, str], list[Slice]] = {}
    for each in slices:
        if (spot := _wrapper(each)) is not None:
            spots.setdefault((spot.file, spot.function), []).append(each)
    if not spots:
        return None, []
    chosen = max(spots.values(), key=total)
    return _wrapper(chosen[0]), chosen


@dataclass(frozen=True, kw_only=True)
class WrappersDominate(Rule):
    """Wrappers of the environment take longer than the environment.

    ## What it checks
    The time in wrappers and transforms around the environments that are learned from, without the environment's own:
    two fifths of the run, and more than the environment itself. What could be saved is not known; half of it is
    assumed, and the advice is a note.

    ## Why it matters
    Wrappers are called at every step and written in Python: a copy of all stacked frames, a conversion, an unused
    statistic each cost as much as a step of a small environment.

    ## Likely causes
    1. Frames are stacked by copying all of them. Confirm: the line that is named.
    2. Pictures are resized at every frame, also at those that are skipped. Confirm: the order of wrappers.
    3. The same is done for each lane that could be done once for all. Confirm: whether a vector wrapper exists for it.

    ## What to try first
    Skip before resizing, and put wrappers around the vector instead of each environment:
    `gymnasium.wrappers.vector`.

    ## When it is fine
    Simulators that cost next to nothing.

    ## References
    Gymnasium documentation, *Vector wrappers*; Weng et al., *EnvPool*.
    """

    code: ClassVar[str] = "PRF926"
    name: ClassVar[str] = "wrappers-dominate"
    severity: ClassVar[Severity] = "note"
    reads: ClassVar[str] = "Timing"

    share: float = 0.4  # of the run
    stays: float = 0.5  # of their time, as nobody knows what they could take

    def check(self, evidence: Timing) -> Iterator[Finding]:
        slices = evidence.of("wrappers")
        seconds, simulator = total(slices), total(evidence.of("simulator"))
        speedup = evidence.speedup(seconds, self.stays * seconds)
        if evidence.share(seconds) < self.share or seconds <= simulator or speedup < WORTH:
            return
        spot, most = _hottest(slices)
        own = spot is not None and evidence.source(spot.file) is not None
        made = next((each.created for each in evidence.environments if each.created and not each.evaluation), None)
        where = evidence.where(most) if own else stepped_at(slices)
        if not own and made is not None:
            where = Where(file=made[0], line=made[1])
        yield self.finding(
            f"wrappers take {evidence.share(seconds):.0%} of the run, the environment itself "
            f"{evidence.share(simulator):.0%}",
            where=where,
            seen=lasting(seconds)
            + (f", {lasting(seconds / evidence.env_steps)} for each env step" if evidence.env_steps else "")
            + (f"; {total(most) / seconds:.0%} of it in {spot.function}" if spot is not None and spot.function else ""),
            expected=f"about {lasting(self.stays * seconds)}, if half of it can be saved",
            help="look at the wrapper that is named; wrap the vector rather than each environment",
            confidence=0.6,
            severity="note",
            speedup=speedup,
        )
