"""Every round of answers is drawn with the same random numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity, Where
from rldebug.forensics.token_writings import Writing
from rldebug.forensics.tokens import rounds
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class RoundsWrittenAlike(Rule):
    """Every round of answers is drawn with the same random numbers.

    ## What it checks
    Rounds in which the model answered the same prompts in the same order, with updates in between. As long as two
    answers are alike so far, both rounds draw the next token from distributions that are known, and how often two
    independent draws would agree is known too. They agree far more often.

    ## Why it matters
    The same answers are written again and again, and what is explored is one path. Many samples are one.

    ## Likely causes
    1. A generator is seeded, or made anew, where a round begins. Confirm: look for `manual_seed` in the loop.
    2. The state of the generator is put back after a part of the loop. Confirm: look for `set_state`.

    ## What to try first
    Seed once, before the loop.

    ## When it is fine
    Answers that are chosen and not drawn agree as often as their distributions say, and are not meant.

    ## References
    PyTorch, *Reproducibility*.
    """

    code: ClassVar[str] = "SEE455"
    name: ClassVar[str] = "rounds-written-alike"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"

    pairs: int = 3  # of rounds, one after the other
    tokens: int = 60  # that were drawn in both after the same beginning
    sure: float = 8.0  # deviations that the agreement is above chance
    doubt: float = 0.6  # of the draws that would differ by chance, the share that did not

    def check(self, evidence: Script) -> Iterator[Finding]:
        written = [each.writings[0] for each in rounds(evidence) if len(each.writings) == 1]
        counted = agreed = pairs = 0
        expected = variance = 0.0
        for before, now in pairwise(written):
            found = _drawn_twice(before, now)
            if found is None:
                continue
            same, chance = found
            pairs += 1
            counted, agreed = counted + len(same), agreed + int(same.sum())
            expected, variance = expected + float(chance.sum()), variance + float((chance * (1 - chance)).sum())
        if pairs < self.pairs or counted < self.tokens or variance < 1.0:
            raise NotEnough(f"{pairs} pairs of rounds that answer the same prompts, needs {self.pairs}")
        if agreed - expected < self.sure * np.sqrt(variance) or agreed - expected < self.doubt * (counted - expected):
            return
        yield self.finding(
            "every round of answers is drawn with the same random numbers",
            where=Where(update=written[-1].update),
            seen=f"{agreed} of {counted} tokens are those of the round before, after the same beginning, in {pairs} "
            f"pairs of rounds",
            expected=f"about {expected:.0f} of them, by their probabilities",
            help="seed the generator once, before the loop: look for manual_seed in what each round calls",
            confidence=0.92,
        )


def _drawn_twice(before: Writing, now: Writing) -> tuple[np.ndarray, np.ndarray] | None:
    """Tokens that were drawn in both after the same beginning: whether they agree, and how likely that was."""
    if before.prompts is None or now.prompts is None or before.update == now.update:
        return None
    if before.prompts.shape != now.prompts.shape or not np.array_equal(before.prompts, now.prompts):
        return None
    if len(before.tokens) != len(now.tokens) or before.logp.shape[2] != now.logp.shape[2]:
        return None
    width = min(before.tokens.shape[1], now.tokens.shape[1])
    agree = before.tokens[:, :width] == now.tokens[:, :width]
    alike = np.concatenate([np.ones((len(agree), 1), dtype=bool), np.cumprod(agree, axis=1)[:, :-1] > 0], axis=1)
    chance = (np.exp(before.logp[:, :width]) * np.exp(now.logp[:, :width])).sum(axis=2)
    known = alike & np.isfinite(chance) & (chance < 1 - 1e-9)
    return agree[known], np.clip(chance[known], 0.0, 1.0)
