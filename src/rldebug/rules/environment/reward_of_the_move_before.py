"""A step returns the reward of the step before it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.moves import Moves, Regression, moves_of, unexplained
from rldebug.forensics.worlds import name_of, training_streams
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class RewardOfTheMoveBefore(Rule):
    """A step returns the reward of the step before it.

    ## What it checks
    What rewards follow from, by a regression that is tested on steps it was not fitted to. They follow from the step
    before, its observation, its action and where it led, and not from the step that returned them. Or they follow from
    where the step began, except for the first ones of all episodes, which are one and the same number.

    ## Why it matters
    The reward is settled before the action is chosen: it says nothing about it. What the last step of an episode
    earns, often the point of the task, is never paid.

    ## Likely causes
    1. `step()` returns a reward that it kept from the call before. Confirm: print the reward where it is computed, and
       where it is returned.
    2. A wrapper hands rewards on one step late. Confirm: print below and above it.
    3. `step()` computes the reward from what it has not updated yet. Confirm: print both after one step.

    ## What to try first
    Compute the reward at the end of `step()`, from the state before, the action and the state that it led to.

    ## When it is fine
    A delay is part of the task.

    ## References
    Seen in the wild: BUF-25 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "ENV309"
    name: ClassVar[str] = "reward-of-the-move-before"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "environment"

    moves: int = 200  # with the one before
    left: float = 0.02  # share of the variance that the step before leaves unexplained
    worse: float = 0.2  # that the step itself leaves
    episodes: int = 10  # seen from their start
    seldom: float = 0.05  # share of later rewards that are the number which episodes begin with
    off: float = 6.0  # how far that number is from what the start says, in errors of later steps

    def check(self, evidence: Script) -> Iterator[Finding]:
        most = 0
        for stream in training_streams(evidence):
            moves = moves_of(evidence, int(stream["index"]))
            if moves is None:
                continue
            most = max(most, int((moves.before >= 0).sum()))
            if most < self.moves:
                continue
            seen = self._earlier(moves) or self._begins(moves)
            if seen:
                yield self.finding(
                    f"a step of {name_of(stream)} returns the reward of the step before",
                    seen=seen,
                    expected="the reward of the action that was just taken",
                    help="compute the reward at the end of step(), from the action and the state that it led to",
                    confidence=0.85,
                )
                return
        if most < self.moves:
            raise NotEnough(f"{most} steps are known with the one before, needs {self.moves}")

    def _earlier(self, moves: Moves) -> str:
        at = np.flatnonzero(moves.before >= 0)
        before = moves.before[at]
        last = np.column_stack([moves.obs[before], moves.action[before], moves.obs[at]])
        own = np.column_stack([moves.obs[at], moves.action[at], moves.reached[at]])
        by_last = unexplained(last, moves.reward[at])
        if by_last > self.left:
            return ""
        by_own = unexplained(own, moves.reward[at])
        if by_own < max(self.worse, 10 * by_last):
            return ""
        return (
            f"rewards follow from the step before, {by_last:.1%} of their variance left, and not from the step that "
            f"returned them, {by_own:.0%} left ({len(at)} steps)"
        )

    def _begins(self, moves: Moves) -> str:
        at = np.flatnonzero(moves.before >= 0)
        first = np.flatnonzero(moves.first)
        number = moves.reward[first[0]] if len(first) else 0.0
        if len(first) < self.episodes or (moves.reward[first] != number).any():
            return ""
        if float((moves.reward[at] == number).mean()) > self.seldom:
            return ""
        by_start = unexplained(moves.obs[at], moves.reward[at])
        own = np.column_stack([moves.obs[at], moves.action[at], moves.reached[at]])
        if by_start > self.left or by_start > 3 * unexplained(own, moves.reward[at]) + 1e-3:
            return ""
        said = Regression(moves.obs[at], moves.reward[at])
        error = float(np.sqrt(by_start * moves.reward[at].var()))
        inside = _inside(moves.obs[first], moves.obs[at])
        far = np.abs(said(moves.obs[first]) - number)[inside] > self.off * error
        if inside.sum() < self.episodes or float(far.mean()) < 0.8:
            return ""
        return (
            f"rewards follow from where a step begins, {by_start:.1%} of their variance left, but the first one of all "
            f"{len(first)} episodes is {number:.3g}, which is far from what their starts say"
        )


def _inside(rows: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Rows that lie where the others do, in every element."""
    low, high = np.quantile(others, 0.01, axis=0), np.quantile(others, 0.99, axis=0)
    reach = 0.1 * (high - low)
    return np.asarray(((rows >= low - reach) & (rows <= high + reach)).all(axis=1))
