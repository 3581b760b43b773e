"""Episodes that run out of time are reported as terminated."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity, Where
from rldebug.forensics.clocks import time_is_seen
from rldebug.forensics.worlds import fact, name_of, training_streams
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ClockEndsEpisodesForGood(Rule):
    """Episodes that run out of time are reported as terminated.

    ## What it checks
    Episodes end after different numbers of steps, but many of them at one and the same round number, none after it,
    and none is ever reported as truncated: the environment has a clock of its own and sets `terminated`. The time
    is not among the observations.

    ## Why it matters
    The value of the last state is learned as zero, though nothing ended there but the time: the same state has a
    value at one moment and none at another.

    ## Likely causes
    1. `terminated` is set where `truncated` is meant: `done = won or clock >= limit`. Confirm: look at what `step`
       returns at the limit.

    ## What to try first
    Return `truncated=True` at the limit, and `terminated` for ends that belong to the task.

    ## When it is fine
    A task that must be done in so many steps, with the time left among the observations.

    ## References
    Pardo et al., *Time Limits in Reinforcement Learning* (2018).
    """

    code: ClassVar[str] = "ENV351"
    name: ClassVar[str] = "clock-ends-episodes-for-good"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"
    follows: ClassVar[tuple[str, ...]] = ("ENV302",)

    episodes: int = 20  # of one environment
    share: float = 0.25  # of them that end at the limit
    others: int = 6  # different lengths below it
    limit: int = 40  # and more: shorter games may well end after so many moves

    def check(self, evidence: Script) -> Iterator[Finding]:
        most = 0
        for stream in training_streams(evidence):
            lengths = np.array([int(each) for each in stream.get("lengths") or ()])
            most = max(most, len(lengths))
            if len(lengths) < self.episodes or int(stream.get("truncations") or 0) or fact(stream, "time_limit"):
                continue
            longest = int(lengths.max())
            at_limit = float((lengths == longest).mean())
            below = lengths[lengths < longest]
            if longest < self.limit or longest % 10 or at_limit < self.share or len(np.unique(below)) < self.others:
                continue
            if np.unique(below, return_counts=True)[1].max() > 0.4 * (lengths == longest).sum():
                continue
            if time_is_seen(evidence, int(stream["index"])):
                continue
            yield self.finding(
                f"episodes of {name_of(stream)} that run out of time are reported as terminated",
                where=Where(),
                seen=f"{at_limit:.0%} of {len(lengths)} episodes end after exactly {longest} steps, none later; "
                "none is truncated",
                expected="truncated where the time is up, terminated where the task is over",
                help="return truncated=True at the time limit",
                confidence=0.8,
            )
            return
        if most < self.episodes:
            raise NotEnough(f"{most} episodes, needs {self.episodes}")
