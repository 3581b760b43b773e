"""Equal answers to the same prompt are weighted differently."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.token_advantages import row_pushes
from rldebug.forensics.tokens import groups_of, rounds
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class EqualAnswersWeightedApart(Rule):
    """Equal answers to the same prompt are weighted differently.

    ## What it checks
    Among the answers that were written to one prompt some are the same, token by token. They earned the same, and
    must be weighted the same; here they are not, as often as answers that differ.

    ## Why it matters
    The weights belong to other answers: the model is pushed at random.

    ## Likely causes
    1. Rewards or advantages are in another order than the sequences: `repeat` here and `repeat_interleave` there,
       or shuffled apart. Confirm: print an answer beside its reward, in the update.
    2. The minibatch takes advantages by another index than sequences. Confirm: the same.

    ## What to try first
    Print the tokens of three rows and their advantages where the loss is computed, and score the tokens again by
    hand.

    ## When it is fine
    A reward that is drawn at random differs between equal answers; where it does so more than between different
    ones, nothing can be learned from it.

    ## References
    Bug kind ADV-10 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "ADV373"
    name: ClassVar[str] = "equal-answers-weighted-apart"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "weighed"
    follows: ClassVar[tuple[str, ...]] = ("ADV370",)

    pairs: int = 6  # of equal answers to one prompt, with an advantage
    share: float = 0.5  # of them that are weighted apart

    def check(self, evidence: Script) -> Iterator[Finding]:
        pairs = apart = 0
        worst = None
        for found in rounds(evidence):
            for each in found.passes:
                groups = groups_of(each.writing)
                if groups is None or not each.at_once:
                    continue
                push = row_pushes(each)
                seen: dict[tuple[int, bytes], float] = {}
                for row in np.flatnonzero(np.isfinite(push) & (each.rows >= 0)):
                    key = (int(groups[each.rows[row]]), each.ids[row].tobytes())
                    if key in seen:
                        pairs += 1
                        differ = abs(seen[key] - push[row]) > 0.05 * max(abs(seen[key]), abs(push[row]))
                        apart += differ
                        worst = worst or (each if differ else None)
                    seen.setdefault(key, float(push[row]))
        if pairs < self.pairs:
            raise NotEnough(f"{pairs} pairs of equal answers to one prompt, needs {self.pairs}")
        if worst is None or apart < self.share * pairs:
            return
        yield self.finding(
            "the same answer to the same prompt is weighted differently from row to row",
            where=worst.call.where,
            seen=f"{apart} of {pairs} pairs of equal answers are pushed by different amounts",
            expected="equal answers to one prompt with equal weights",
            help="keep sequences, rewards and advantages in one order: repeat_interleave, and one index for all",
            confidence=0.9,
        )
