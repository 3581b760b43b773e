"""Ratios are not 1 before the first update."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.generations import Generations
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class FirstPassOffPolicy(Rule):
    """Ratios are not 1 before the first update.

    ## What it checks
    In the first pass over fresh answers, before any update, the log-probs of the old policy must be those of the
    policy.

    ## Why it matters
    Old log-probs of something else make every ratio wrong: clipping cuts what should be learned, and the rest is
    weighted at random.

    ## Likely causes
    1. Old log-probs are taken from the reference, or from the sampler with another temperature. Confirm: print both
       for one answer.
    2. They are taken after an update, or of a batch in another order. Confirm: train without shuffling.
    3. Dropout is on. Confirm: see NET510.

    ## What to try first
    Print old and new log-probs of one answer in the first pass: they are equal.

    ## When it is fine
    A sampler of another precision whose log-probs are used on purpose.

    ## References
    PPO, arXiv 1707.06347; The 37 Implementation Details of PPO, detail 'approximate KL'.
    """

    code: ClassVar[str] = "POL511"
    name: ClassVar[str] = "first-pass-off-policy"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Generations"
    follows: ClassVar[tuple[str, ...]] = (
        "NET510",
        "NET511",
        "POL512",
    )

    off: float = 0.02  # nats a token, mean size
    answers: int = 8  # that are needed

    def check(self, evidence: Generations) -> Iterator[Finding]:
        off = evidence.passed("log_ratio", fresh=True)
        off = off[np.isfinite(off)]
        if len(off) < self.answers:
            raise NotEnough(f"old log-probs of {len(off)} answers in first passes, needs {self.answers}")
        if float(off.mean()) < self.off:
            return
        yield self.finding(
            "ratios are not 1 before the first update: the old log-probs are not those of the policy",
            seen=f"log-ratios of {off.mean():.2g} nats a token in the mean, over {len(off)} answers in first passes",
            expected="old and new log-probs that are equal until the first update",
            help="take the old log-probs from the policy itself, for the same rows, right after the "
            "answers were written",
            confidence=0.93,
        )
