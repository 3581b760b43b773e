"""Rewards come back in another order than the answers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.generations import Generations
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule

_SAME = 1e-9  # one reward for all is no order


@dataclass(frozen=True, kw_only=True)
class RewardsInAnotherOrder(Rule):
    """Rewards come back in another order than the answers.

    ## What it checks
    Rewards of a whole batch that come sorted; answers that read the same and are rewarded as differently as any two;
    and, with `score_again=True`, what a function says of the same answers in another order.

    ## Why it matters
    Each answer is trained with the reward of another one: the rewards look right, and nothing is learned.

    ## Likely causes
    1. Answers are sorted (by length, for a reward model) and not put back. Confirm: undo the sorting with its index.
    2. Results of a pool are taken as they come: `imap_unordered`, `as_completed`. Confirm: use `map`.
    3. A set or a dictionary loses duplicates and order. Confirm: look for one.

    ## What to try first
    Call the function twice, with the same answers in two orders.

    ## When it is fine
    A reward that is drawn at random, as a judge's may be, differs for the same answer; never as much as for any
    other.

    ## References
    TRL, reward functions: one reward for each completion, in their order.
    """

    code: ClassVar[str] = "ENV512"
    name: ClassVar[str] = "rewards-in-another-order"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Generations"

    distinct: int = 5  # values in a batch that may be sorted
    rounds: int = 3  # that are sorted
    pairs: int = 6  # of answers that read the same
    share: float = 0.1  # of answers that get something else when asked again

    def check(self, evidence: Generations) -> Iterator[Finding]:
        rounds = evidence.rounds
        if not rounds or not evidence.functions():
            raise NotEnough("no rewards were seen")
        for name in evidence.functions():
            seen = self._asked_again(evidence, name) or self._sorted(evidence, name) or self._alike(evidence, name)
            if seen:
                yield self.finding(
                    f"rewards of {name} do not belong to the answers in whose place they stand",
                    seen=seen,
                    expected="one reward for each answer, in the order of the answers",
                    help="return rewards in the order of completions; RLDebugCallback(score_again=True) makes sure",
                    confidence=0.93,
                )

    def _asked_again(self, evidence: Generations, name: str) -> str:
        first = np.concatenate([each.column(f"reward/{name}") for each in evidence.rounds])
        again = np.concatenate([each.column(f"again/{name}") for each in evidence.rounds])
        known = np.isfinite(first) & np.isfinite(again)
        other = np.abs(first - again) > 1e-6 * (1.0 + np.abs(first))
        if not known.any() or (other & known).sum() < self.share * known.sum():
            return ""
        return (
            f"asked again in another order, it says something else of {int((other & known).sum())} of "
            f"{known.sum()} answers"
        )

    def _sorted(self, evidence: Generations, name: str) -> str:
        able = inorder = 0
        for each in evidence.rounds:
            said = each.column(f"reward/{name}")
            if np.isfinite(said).all() and len(np.unique(said)) >= self.distinct:
                able += 1
                steps = np.diff(said)
                inorder += bool((steps >= 0).all() or (steps <= 0).all())
        if inorder < self.rounds or inorder < 0.9 * able:
            return ""
        return f"in {inorder} of {able} batches the rewards come sorted"

    def _alike(self, evidence: Generations, name: str) -> str:
        """Answers of one batch that read the same, to the same prompt: their rewards differ less than any two."""
        within, between = [], []
        for each in evidence.rounds:
            said, text = each.column(f"reward/{name}"), each.columns.get("text", each.column("prompt"))
            same = (each.column("answer")[:, None] == each.column("answer")[None, :]) & (text[:, None] == text[None, :])
            gap = np.abs(said[:, None] - said[None, :])
            upper = np.triu(np.isfinite(gap), 1)
            within += gap[same & upper].tolist()
            between += gap[~same & upper].tolist()
        if len(within) < self.pairs or not between or np.mean(within) < 0.6 * np.mean(between) or max(within) <= _SAME:
            return ""
        return (
            f"{len(within)} pairs of the same answer to the same prompt differ by {np.mean(within):.3g} in reward, "
            f"any two answers by {np.mean(between):.3g}"
        )
