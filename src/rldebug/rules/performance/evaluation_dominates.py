"""Evaluation takes a good part of the run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.timing import WORTH, Timing, total
from rldebug.evidence.timings.calling import stepped_at
from rldebug.evidence.timings.telling import lasting, weight
from rldebug.finding import Finding, Severity, thousands
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class EvaluationDominates(Rule):
    """Evaluation takes a quarter of the run, or more.

    ## What it checks
    The time spent in environments that nothing is learned from, between updates. An evaluation after the last update
    does not count.

    ## Why it matters
    Each evaluation tells one point of a curve. Half as many points tell nearly the same, and a run of a day ends in the
    afternoon.

    ## Likely causes
    1. Evaluation after every few updates. Confirm: print when it starts and ends.
    2. Many episodes each time, and they get longer as the agent gets better. Confirm: their number and lengths.
    3. Episodes are played one after the other. Confirm: whether the environment is a vector.

    ## What to try first
    Evaluate half as often, or play its episodes side by side.

    ## When it is fine
    Where the curve itself is the result, and time does not matter.

    ## References
    Agarwal et al., *Deep Reinforcement Learning at the Edge of the Statistical Precipice*.
    """

    code: ClassVar[str] = "PRF920"
    name: ClassVar[str] = "evaluation-dominates"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Timing"

    share: float = 0.25  # of the run

    def check(self, evidence: Timing) -> Iterator[Finding]:
        played = [each for each in evidence.environments if each.evaluation]
        if evidence.updates == 0 or (played and all(each.first_update >= evidence.updates for each in played)):
            return
        slices = evidence.of("evaluation")
        seconds = total(slices)
        speedup = evidence.speedup(seconds, 0.5 * seconds)
        if evidence.share(seconds) < self.share or speedup < WORTH:
            return
        steps = sum(each.steps for each in played)
        trained = sum(each.steps for each in evidence.environments if not each.evaluation)
        yield self.finding(
            f"evaluation takes {evidence.share(seconds):.0%} of the run",
            where=stepped_at([each for each in slices if each.inside] or slices),
            seen=lasting(seconds)
            + (f", {thousands(steps)} env steps beside {thousands(trained)} that are learned from" if steps else "")
            + (", one after the other" if played and all(each.lanes == 1 for each in played) else ""),
            expected=f"{lasting(0.5 * seconds)}, evaluated half as often",
            help="evaluate half as often, or with half the episodes; play them side by side in a vector environment",
            confidence=0.8,
            severity=weight(speedup),
            speedup=speedup,
        )
