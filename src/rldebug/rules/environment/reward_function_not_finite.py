"""A reward function returns NaN or an infinity."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.generations import Generations
from rldebug.finding import Finding, Severity, Where
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class RewardFunctionNotFinite(Rule):
    """A reward function returns NaN or an infinity.

    ## What it checks
    What reward functions return, before the trainer adds it up. None means that a function does not apply, and is no
    mistake.

    ## Why it matters
    The trainer takes NaN for None and leaves the answer out, in silence. An infinity makes every advantage of its
    group NaN.

    ## Likely causes
    1. A division by zero, or a logarithm of 0: empty answers, no match. Confirm: find the answer that gives it.
    2. A mean of an empty list. Confirm: look at answers without words.

    ## What to try first
    Return a number for every answer, and None only where the function does not apply.

    ## When it is fine
    Never.

    ## References
    TRL, `GRPOTrainer._calculate_rewards`.
    """

    code: ClassVar[str] = "ENV511"
    name: ClassVar[str] = "reward-function-not-finite"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Generations"

    answers: int = 1  # from which on it is told

    def check(self, evidence: Generations) -> Iterator[Finding]:
        wrong = evidence.all("not_a_number")
        if not len(wrong) or np.isnan(wrong).all():
            raise NotEnough("no rewards were seen")
        count = int((wrong > 0).sum())
        if count < self.answers:
            return
        first = next(each for each in evidence.rounds if (each.column("not_a_number") > 0).any())
        yield self.finding(
            "a reward function returns NaN or an infinity",
            where=Where(update=first.update),
            seen=f"for {count} of {len(wrong)} answers",
            expected="a number for every answer; None where the function does not apply",
            help="find what divides by zero: empty answers, answers without a match",
            confidence=0.98,
        )
