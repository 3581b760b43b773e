"""The loss does not push answers the way of their advantage."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.generations import Generations
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class AnswersPushedAgainstAdvantage(Rule):
    """The loss does not push answers the way of their advantage.

    ## What it checks
    In first passes, the gradient of the loss at the log-probs of each answer: above-average answers must be made
    likelier, the others less likely.

    ## Why it matters
    Training goes downhill, or nowhere.

    ## Likely causes
    1. The sign of the loss: it is minimised, and must be minus the objective. Confirm: look for the minus.
    2. Advantages are permuted within the loss. Confirm: follow one row.
    3. The ratio is upside down: old minus new. Confirm: look at the `exp`.

    ## What to try first
    Take `-(ratio * advantage)`, for the row that the advantage belongs to.

    ## When it is fine
    A divergence from the reference that outweighs the advantages.

    ## References
    PPO, arXiv 1707.06347, equation 7.
    """

    code: ClassVar[str] = "POL516"
    name: ClassVar[str] = "answers-pushed-against-advantage"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Generations"
    follows: ClassVar[tuple[str, ...]] = ("POL517",)

    agree: float = 0.7  # share of answers that are pushed as they should be, below which it is told
    least: float = 0.1  # size of an advantage that counts
    answers: int = 16  # that are needed

    def check(self, evidence: Generations) -> Iterator[Finding]:
        push, advantage = evidence.passed("push", fresh=True), evidence.passed("advantage", fresh=True)
        counts = (np.abs(advantage) > self.least) & np.isfinite(push) & (push != 0)
        if int(counts.sum()) < self.answers:
            raise NotEnough(f"{counts.sum()} answers with advantage and gradient in first passes, needs {self.answers}")
        agree = float((np.sign(push[counts]) == np.sign(advantage[counts])).mean())
        if agree >= self.agree:
            return
        turned = agree < 1 - self.agree
        yield self.finding(
            "the loss makes the worse answers likelier"
            if turned
            else "the loss does not push answers the way of their advantage",
            seen=f"{agree:.0%} of {counts.sum()} answers are pushed the way of their advantage",
            expected="all of them",
            help="minimise minus the objective: -(ratio * advantage)"
            if turned
            else "follow one row: its advantage must meet its own log-probs",
            confidence=0.95 if turned else 0.85,
        )
