"""A goal is exchanged in the observation or in the next one, and not in both."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.goal_rows import goal_rows
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class GoalExchangedInOnePlace(Rule):
    """Goals are exchanged in one of observation and next observation.

    ## What it checks
    Some numbers of the observations stay as they are within every episode and differ between episodes: a goal. In the
    rows of a loss that are known to be steps of the environment, by all their other numbers, the goal of what is
    predicted is another than the goal of what the target is bootstrapped from.

    ## Why it matters
    The value of one goal is learned from the value of another. What is learned of either is a mixture of both.

    ## Likely causes
    1. Hindsight replaces the goal in the observation and not in the next observation, or the other way round. Confirm:
       print both goals of an exchanged row.

    ## What to try first
    Put the new goal into both, and compute the reward from it.

    ## When it is fine
    Never: no step of the environment changes the goal.

    ## References
    Andrychowicz et al. 2017, *Hindsight Experience Replay*.
    """

    code: ClassVar[str] = "BUF355"
    name: ClassVar[str] = "goal-exchanged-in-one-place"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"

    rows: int = 48  # that are known steps of the environment
    share: float = 0.2  # of rows: resets that are stored as next observations are fewer

    def check(self, evidence: Script) -> Iterator[Finding]:
        found = goal_rows(evidence)
        total = sum(len(each.place) for each in found)
        if total < self.rows:
            raise NotEnough("no rows of goals were followed")
        differ = [int((np.abs(each.own - each.next) > 1e-6).any(axis=1).sum()) for each in found]
        where = [each for each, count in zip(found, differ, strict=True) if count]
        if sum(differ) < max(self.rows / 2, self.share * total) or len({each.audit.number for each in where}) < 2:
            return
        moved = sum(int((~each.kept).sum()) for each in where)
        new = "the observation" if 2 * moved >= sum(differ) else "the next observation"
        yield self.finding(
            "the next observation has another goal than the observation",
            where=where[0].term.where,
            seen=f"the goals differ in {sum(differ)} of {total} rows; the new one is in {new} alone",
            expected="one goal in both: no step of the environment changes it",
            help="where a goal is exchanged, put the new one into the observation and into the next observation",
            confidence=0.93,
        )
