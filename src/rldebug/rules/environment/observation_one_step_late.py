"""Observations are one step late: the first step shows the start again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.starts import repeated, starts_of
from rldebug.forensics.worlds import name_of, training_streams
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ObservationOneStepLate(Rule):
    """Observations are one step behind the state.

    ## What it checks
    The first step of every episode returns the observation of the reset once more, equal in every element and whatever
    the action was; no later step does. Exact.

    ## Why it matters
    The agent always acts on what was before. The reward of an action is seen beside a state it had no part in, and the
    last state of an episode is never shown.

    ## Likely causes
    1. `step()` computes the observation before it moves the state. Confirm: print both after one step.
    2. A wrapper returns the observation it kept from the call before. Confirm: print below and above it.

    ## What to try first
    Compute the observation at the end of `step()`.

    ## When it is fine
    A delay is part of the task. Games whose first picture stands still repeat it later on too, after a pause.

    ## References
    Seen in the wild: RWD-11 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "ENV308"
    name: ClassVar[str] = "observation-one-step-late"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "environment"

    episodes: int = 8  # seen from their start
    actions: int = 2  # different ones, of the first step
    equal: float = 0.98  # share of first steps that show the start again
    later: float = 0.02  # share of other steps that show again what was there
    starts: int = 2  # different ones

    def check(self, evidence: Script) -> Iterator[Finding]:
        most = 0
        for stream in training_streams(evidence):
            index = int(stream["index"])
            seen = [(each, each.after) for each in starts_of(evidence, index) if each.after is not None]
            most = max(most, len(seen))
            if len(seen) < self.episodes or len({each.action for each, _ in seen}) < self.actions:
                continue
            if len({each.obs.tobytes() for each, _ in seen}) < self.starts:
                continue  # a fixed start may be a place where nothing moves
            alike = sum(bool((each.obs == after).all()) for each, after in seen)
            equal, steps = repeated(evidence, index)
            if alike < self.equal * len(seen) or steps < 5 * self.episodes or equal > self.later * steps:
                continue
            yield self.finding(
                "observations are one step late",
                seen=f"the first step of {alike} of {len(seen)} episodes in {name_of(stream)} returned the observation "
                f"of the reset again, whatever the action; of {steps} later steps {equal} did so",
                expected="what the step led to",
                help="compute the observation at the end of step(), after the state has moved",
                confidence=0.9,
            )
            return
        if most < self.episodes:
            raise NotEnough(f"{most} episodes were seen from their start, needs {self.episodes}")
