"""One part of the training loop takes longer and longer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.timing import WORTH, Timing
from rldebug.evidence.timings.telling import lasting, weight
from rldebug.evidence.timings.trend import GROUPS, comparable, slowest
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule

_MAY_BE_THE_TASK = ("simulator", "reset", "rendering", "evaluation")


@dataclass(frozen=True, kw_only=True)
class PartSlowsDown(Rule):
    """One part of the training loop takes longer and longer.

    ## What it checks
    From the first update on: the time for each env step and for each update, in six stretches of the run. Where both
    grow, the part that grew all the way, to 1.3 times what it was or more, and by as much beyond the others, is named.
    Longer episodes slow down the updates alone, a busy machine slows down all parts alike: neither counts.

    ## Why it matters
    What grows with the length of the run is slowest where the run is longest. A day becomes a week.

    ## Likely causes
    1. A list that is appended to, and gone through again and again. Confirm: its length at the line that is named.
    2. Graphs are kept: a sum of losses that are not detached. Confirm: memory grows too.
    3. Figures or files that are written anew with all that was seen so far. Confirm: the size of the files.

    ## What to try first
    Look at the line that is named, for what is as long as the run.

    ## When it is fine
    The task itself becomes costlier as the agent gets further: more objects, longer evaluations.

    ## References
    Jones, *Debugging RL, Without the Agonizing Pain* (component throughput).
    """

    code: ClassVar[str] = "PRF923"
    name: ClassVar[str] = "part-slows-down"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Timing"
    explains: ClassVar[tuple[str, ...]] = ("PRF001",)
    follows: ClassVar[tuple[str, ...]] = ("PRF903", "PRF912", "PRF922", "PRF929")  # what grows with the memory

    slower: float = 1.08  # the whole, last third over first
    grown: float = 1.3  # the part, and beyond what the others did
    steadiness: float = 0.85  # rank correlation with time
    seconds: float = 5.0  # that a run must last

    def check(self, evidence: Timing) -> Iterator[Finding]:
        if evidence.seconds < self.seconds or len(comparable(evidence)) < GROUPS:
            raise NotEnough(
                f"{len(comparable(evidence))} readings of the pace in {evidence.seconds:.1f} s, "
                f"needs {GROUPS} in {self.seconds:g} s"
            )
        trend = slowest(evidence, slower=self.slower, grown=self.grown, steadiness=self.steadiness)
        if trend is None:
            return
        speedup = evidence.speedup(trend.lost)
        if speedup < WORTH:
            return
        natural = trend.part in _MAY_BE_THE_TASK
        slices = evidence.of(trend.part)
        spot = slices[0].user if slices and trend.part == "other" else None
        what = (
            trend.part if spot is None else "the loop itself" if spot.function == "<module>" else f"`{spot.function}`"
        )
        yield self.finding(
            f"{what} takes {trend.last / trend.first:.1f} times as long as it did",
            where=evidence.where(slices),
            seen=f"{lasting(trend.first)} for each {trend.unit} in the first third of the run, {lasting(trend.last)} "
            f"in the last, rising all the way; the whole run is {trend.slower:.1f} times slower",
            expected=f"{lasting(trend.start)} to the end, as at the start",
            help="look there for a list, a log or a graph that grows with the run and is gone through each time",
            confidence=0.6 if natural else 0.8,
            severity="note" if natural else weight(speedup),
            speedup=speedup,
        )
