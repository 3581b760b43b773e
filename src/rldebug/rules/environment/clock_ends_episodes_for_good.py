"""Episodes that run out of time are reported as terminated."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity, Where
from rldebug.forensics.clocks import time_is_seen
from rldebug.forensics.targets import ONE_FLAG, fit_targets
from rldebug.forensics.worlds import fact, name_of, training_streams
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ClockEndsEpisodesForGood(Rule):
    """Episodes that run out of time are reported as terminated.

    ## What it checks
    Episodes end after different numbers of steps, but many of them at one and the same round number, none after it,
    and none is ever reported as truncated: the environment has a clock of its own and sets `terminated`. Where most
    end long before, those that come near that number tell: hardly one ended in the steps before it, and then all did.
    The time is not among the observations. Where `step` has one flag for both, targets have to show that no end is
    told from another. Where few episodes come so far it is only noted.

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
    share: float = 0.25  # of them that end at the limit; fewer, where
    chance: float = 1e-6  # that they all do, going by the steps before it, is less than this
    few: float = 0.1  # share below which little is learned from them: only noted
    others: int = 6  # different lengths below it
    all: float = 0.97  # share of ends without a value behind them, where an environment has one flag for both
    limit: int = 20  # and more: shorter games may well end after so many moves

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
            if longest < self.limit or not _round(longest) or len(np.unique(below)) < self.others:
                continue
            if at_limit >= self.share:
                if np.unique(below, return_counts=True)[1].max() > 0.4 * (lengths == longest).sum():
                    continue
            elif _by_chance(lengths) > self.chance:
                continue
            if time_is_seen(evidence, int(stream["index"])):
                continue
            if fact(stream, "api") in ONE_FLAG and not self._learned_so(evidence):
                continue
            yield self.finding(
                f"episodes of {name_of(stream)} that run out of time are reported as terminated",
                where=Where(),
                seen=f"{at_limit:.0%} of {len(lengths)} episodes end after exactly {longest} steps, none later; "
                "none is truncated",
                expected="truncated where the time is up, terminated where the task is over",
                help="return truncated=True at the time limit",
                confidence=0.8,
                severity="note" if at_limit < self.few else None,
            )
            return
        if most < self.episodes:
            raise NotEnough(f"{most} episodes, needs {self.episodes}")

    def _learned_so(self, script: Script) -> bool:
        """Every end is one for good in the targets: the program knows no better from its info, or by counting."""
        ends = [each for fit in fit_targets(script) for each in fit.endings if each.kind == "terminated" and each.right]
        return any(each.hit >= self.all * each.rows for each in ends)


def _round(steps: int) -> bool:
    """A number that somebody would write down as a limit."""
    return steps % 10 == 0 or steps % 25 == 0 or steps & (steps - 1) == 0


def _by_chance(lengths: NDArray[np.int64]) -> float:
    """The chance that all who came as far as the longest end right there, if ends are as likely as shortly before."""
    longest = int(lengths.max())
    before = lengths[(lengths > longest // 2) & (lengths < longest)]
    if np.bincount(before).max(initial=0) > 0.3 * (lengths == longest).sum():
        return 1.0  # the last few of many who end about there
    likely = []
    for since in (longest // 2, 4 * longest // 5):
        near = lengths[lengths > since]
        at_risk = int((np.minimum(near, longest - 1) - since).sum())
        likely.append((int((near < longest).sum()) + 1) / (at_risk + 1))
    return float(max(likely) ** int((lengths == longest).sum()))
