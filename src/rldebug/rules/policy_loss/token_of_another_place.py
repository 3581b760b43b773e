"""The scores of a place are trained on a token that they do not choose."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.tokens import rounds
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class TokenOfAnotherPlace(Rule):
    """The scores of a place are trained on a token that they do not choose.

    ## What it checks
    A language model wrote sequences and learns from them. The gradient of the loss at its scores tells which token
    each place is pushed towards. The scores at a place choose the token that comes next; here they are pushed
    towards another: the one at the same place, or the one after the next. Exact, in whatever form the loss is
    written.

    ## Why it matters
    The log-probs are of choices that were never made. The model learns to repeat the token it has just read, and
    the ratio to the old policy means nothing.

    ## Likely causes
    1. Scores and tokens are not shifted against each other. Confirm: `logits[:, :-1]` goes with `ids[:, 1:]`; of a
       prompt of length P, `logits[:, P-1:-1]` goes with `ids[:, P:]`.
    2. The shift is made twice, once by hand and once in a function that is called. Confirm: look for a second slice
       in the function that gathers.

    ## What to try first
    Compute the log-probs of the first sampled batch before any update and compare them with those of the sampler:
    they must be equal.

    ## When it is fine
    Models that are trained to fill in the token at the same place do not write left to right, and are not judged.

    ## References
    Bug kind POL-16 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "POL380"
    name: ClassVar[str] = "token-of-another-place"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "scored"

    passes: int = 2  # that learn from what was written
    right: float = 0.5  # share of the places that are pushed towards the token they choose
    other: float = 0.75  # share that are pushed towards the one at another place

    def check(self, evidence: Script) -> Iterator[Finding]:
        judged, wrong = 0, []
        for each in (one for found in rounds(evidence) for one in found.passes):
            share = each.labels_at(1)
            if not np.isfinite(share):
                continue
            judged += 1
            for shift in (0, 2):
                if share < self.right and each.labels_at(shift) >= self.other:
                    wrong.append((each, shift))
        if judged < self.passes:
            raise NotEnough(f"{judged} passes over sequences that the model wrote itself, needs {self.passes}")
        if len(wrong) < max(self.passes, 0.6 * judged):
            return
        each, shift = wrong[0]
        yield self.finding(
            "the scores of each place are trained on "
            + ("the same token they were given" if not shift else "the token after the next"),
            where=each.call.where,
            seen=f"the token {shift} places on, in {each.labels_at(shift):.0%} of the places; "
            f"the next one in {each.labels_at(1):.0%}",
            expected="the token that follows the place: its scores chose that one",
            help="shift scores and tokens by one: logits[:, :-1] with ids[:, 1:]",
            confidence=0.98,
        )
