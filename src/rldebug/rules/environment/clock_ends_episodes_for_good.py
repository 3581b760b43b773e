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
from rldebug.forensics.worlds import Stream, fact, name_of, training_streams
from rldebug.rule import NotEnough, Rule

_CALENDAR = (24, 48, 52, 96, 144, 168, 252, 336, 365, 366)  # hours and days: a task may be over then


@dataclass(frozen=True, kw_only=True)
class ClockEndsEpisodesForGood(Rule):
    """Episodes that run out of time are reported as terminated.

    ## What it checks
    Episodes end after different numbers of steps, but many of them at one and the same round number, none after it,
    and none is ever reported as truncated: the environment has a clock of its own and sets `terminated`. Where most
    end long before, those that come near that number tell: hardly one ended in the steps before it, and then all did.
    The time is not among the observations. Where `step` has one flag for both, targets have to show that no end is
    told from another. Where few episodes come so far it is only noted. Of a number that is not round, most have to
    end there.

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
    aim: ClassVar[str] = "environment"
    follows: ClassVar[tuple[str, ...]] = ("ENV302",)

    episodes: int = 20  # of one environment
    share: float = 0.25  # of them that end at the limit; fewer, where
    chance: float = 1e-6  # that they all do, going by the steps before it, is less than this
    few: float = 0.1  # share below which little is learned from them: only noted
    others: int = 6  # different lengths below it
    all: float = 0.97  # share of ends without a value behind them, where an environment has one flag for both
    limit: int = 20  # and more: shorter games may well end after so many moves
    many: int = 30  # episodes, and
    most: float = 0.5  # share at the limit, and
    few_others: int = 3  # lengths below it, where the limit is no number that one would write down

    def check(self, evidence: Script) -> Iterator[Finding]:
        most = 0
        for streams in _side_by_side(training_streams(evidence)):
            lengths = np.array([int(length) for each in streams for length in each.get("lengths") or ()])
            most = max(most, len(lengths))
            truncated = any(int(each.get("truncations") or 0) for each in streams)
            if len(lengths) < self.episodes or truncated or any(fact(each, "time_limit") for each in streams):
                continue
            if not self._is_limit(lengths) or any(time_is_seen(evidence, int(each["index"])) for each in streams):
                continue
            if fact(streams[0], "api") in ONE_FLAG and not self._learned_so(evidence):
                continue
            longest = int(lengths.max())
            at_limit = float((lengths == longest).mean())
            yield self.finding(
                f"episodes of {name_of(streams[0])} that run out of time are reported as terminated",
                where=Where(),
                seen=f"{at_limit:.0%} of {len(lengths)} episodes end after exactly {longest} steps, none later; "
                "none is truncated",
                expected="truncated where the time is up, terminated where the task is over",
                help="return truncated=True at the time limit",
                confidence=0.8 if _round(longest) else 0.7,
                severity="note" if at_limit < self.few else None,
            )
            return
        if most < self.episodes:
            raise NotEnough(f"{most} episodes, needs {self.episodes}")

    def _is_limit(self, lengths: NDArray[np.int64]) -> bool:
        """Whether the longest episodes end by the clock."""
        longest = int(lengths.max())
        at_limit = float((lengths == longest).mean())
        below = lengths[lengths < longest]
        often = np.unique(below, return_counts=True)[1].max(initial=0) > 0.4 * (lengths == longest).sum()
        different = len(np.unique(below))
        if longest < self.limit:
            return False
        if not _round(longest):
            odd = longest not in _CALENDAR and len(lengths) >= self.many and at_limit >= self.most
            return odd and not often and different >= self.few_others
        if different < self.others:
            return False
        return not often if at_limit >= self.share else _by_chance(lengths) <= self.chance

    def _learned_so(self, script: Script) -> bool:
        """Every end is one for good in the targets: the program knows no better from its info, or by counting."""
        ends = [each for fit in fit_targets(script) for each in fit.endings if each.kind == "terminated" and each.right]
        return any(each.hit >= self.all * each.rows for each in ends)


def _side_by_side(streams: list[Stream]) -> list[list[Stream]]:
    """Environments of one kind together: lanes that the program keeps in a list."""
    kinds: dict[tuple[str, str], list[Stream]] = {}
    for each in streams:
        kinds.setdefault((name_of(each), str(fact(each, "class"))), []).append(each)
    return list(kinds.values())


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
