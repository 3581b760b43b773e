"""The token that ends an answer is not trained."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.generations import Generations
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class EndNeverLearned(Rule):
    """The token that ends an answer is not trained.

    ## What it checks
    Answers that end by themselves, whose last token is outside of the mask of the loss, or has no gradient.

    ## Why it matters
    When to stop is never learned: answers grow to the limit, however good they are.

    ## Likely causes
    1. The mask is `ids != eos`, or `ids != pad` where one token is both. Confirm: print mask and tokens of one
       answer.
    2. The mask is shifted by a place. Confirm: the same.
    3. The mask counts places before the end, and not the end: `<` where `<=` is meant. Confirm: look at the
       comparison.

    ## What to try first
    Take all tokens up to and with the first end.

    ## When it is fine
    Never.

    ## References
    TRL issue on pad and eos; `completion_mask` of TRL includes the end.
    """

    code: ClassVar[str] = "POL515"
    name: ClassVar[str] = "end-never-learned"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Generations"

    share: float = 0.5  # of answers that end
    answers: int = 4  # that end and are needed

    def check(self, evidence: Generations) -> Iterator[Finding]:
        ended, left = evidence.all("ended") > 0, evidence.all("end_left_out") > 0
        learned = evidence.all("learned") > 0
        count, out = int((ended & learned).sum()), int((left & ended).sum())
        if count < self.answers:
            raise NotEnough(f"{count} answers that end, needs {self.answers}")
        if out >= self.share * count:
            yield self.finding(
                "the token that ends an answer is not trained: the mask leaves it out",
                seen=f"in {out} of {count} answers that end",
                expected="a mask up to and with the first end",
                help="mask what comes after the first end, not the end itself",
                confidence=0.95,
            )
            return
        last = evidence.passed("last")
        last = last[np.isfinite(last)]
        if len(last) >= self.answers and float((last < 1e-6).mean()) > 0.95:
            yield self.finding(
                "the last token of every answer has no gradient",
                seen=f"in {int((last < 1e-6).sum())} of {len(last)} answers, while others of their tokens have",
                expected="a gradient at every token of the answer",
                help="look for log-probs or masks that are shifted by one place",
                confidence=0.9,
            )
