"""A reward function gives every answer the same reward."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.generations import Generations
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class RewardFunctionConstant(Rule):
    """A reward function gives every answer the same reward.

    ## What it checks
    The rewards of one function over all answers that were looked at, which themselves differ.

    ## Why it matters
    What is the same for all answers teaches nothing. Where it is the only function, nothing at all is learned.

    ## Likely causes
    1. The answer is never recognised: another format, a pattern that never matches. Confirm: call the function with
       an answer that must earn something.
    2. An exception is caught and 0 is returned. Confirm: let it through.
    3. It is given messages where it expects text, or the other way round. Confirm: print what it gets.

    ## What to try first
    Call the reward function by hand with one good and one bad answer.

    ## When it is fine
    A reward that is out of reach in the beginning, beside others that are not.

    ## References
    rldoctor's reward_composition.
    """

    code: ClassVar[str] = "ENV510"
    name: ClassVar[str] = "reward-function-constant"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Generations"
    follows: ClassVar[tuple[str, ...]] = ("ACT510",)

    answers: int = 48  # that are needed
    different: int = 8  # answers among them

    def check(self, evidence: Generations) -> Iterator[Finding]:
        count, distinct = evidence.answers, len(set(evidence.all("answer")))
        if count < self.answers or distinct < self.different:
            raise NotEnough(f"{distinct} different answers among {count}, needs {self.different} among {self.answers}")
        constant = {}
        for name in evidence.functions():
            said = evidence.all(f"reward/{name}")
            said = said[np.isfinite(said)]
            if len(said) >= self.answers and float(np.ptp(said)) <= 1e-9:
                constant[name] = float(said[0])
        every = len(constant) == len(evidence.functions())
        for name, value in constant.items():
            yield self.finding(
                f"{name} gives every answer the same reward",
                seen=f"{value:.4g} for each of {count} answers, {distinct} of them different",
                expected="a reward that tells answers apart",
                help=f"call {name} by hand with one good and one bad answer",
                confidence=0.95,
                severity="warning" if every else "note",
            )
