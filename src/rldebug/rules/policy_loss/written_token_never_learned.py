"""The first or the last token of every answer is left out of the loss."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.tokens import rounds, written_places
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class WrittenTokenNeverLearned(Rule):
    """The first or the last token of every answer is left out of the loss.

    ## What it checks
    In sequences that the model wrote, the place that chose the first token, or the one that ended the answer, never
    gets a gradient, while those beside it do.

    ## Why it matters
    The model gets no credit for where it starts, or for when it stops. A model that cannot learn to stop writes
    ever longer answers.

    ## Likely causes
    1. The mask is built from tokens that are not the end token, or not the filler, where both are the same number.
       Confirm: print the mask of a row that ended.
    2. The mask and the log-probs are one place apart. Confirm: print a row of tokens over its mask.

    ## What to try first
    Build the mask from the number of tokens written, the end token included.

    ## When it is fine
    A first token that is forced is chosen by nobody; then it may be left out.

    ## References
    Bug kinds POL-16 and POL-17 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "POL385"
    name: ClassVar[str] = "written-token-never-learned"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "marked"
    follows: ClassVar[tuple[str, ...]] = ("POL380",)

    rows: int = 24  # sequences that are learned and ended, or have a first token
    certain: float = -0.05  # log-prob of a token that is not learned any more
    beside: float = 0.3  # share of the other written places that are pushed

    def check(self, evidence: Script) -> Iterator[Finding]:
        counted = {"first": [0, 0], "last": [0, 0]}
        others = [0, 0]
        where = None
        for each in (one for found in rounds(evidence) for one in found.passes):
            if not each.labels_at(1) >= 0.9:
                continue
            places = written_places(each)
            learned = (each.active & places["written"]).any(axis=1) & (each.length >= 3)
            where = where or each
            sure = np.zeros_like(learned[:, None] & places["first"])
            if "logp" in each.call.arrays:  # of the next token: one that is certain has no gradient
                sure[:, :-1] = each.call.arrays["logp"] > self.certain
            for name, count in counted.items():
                mask = places[name] & learned[:, None] & ~sure
                count[0] += int(mask.sum())
                count[1] += int((each.active & mask).sum())
            inner = places["written"] & ~places["first"] & ~places["last"] & learned[:, None]
            others[0] += int(inner.sum())
            others[1] += int((each.active & inner).sum())
        if where is None or max(count[0] for count in counted.values()) < self.rows:
            raise NotEnough(
                f"{max(count[0] for count in counted.values())} sequences that are learned, needs {self.rows}"
            )
        if others[1] < self.beside * others[0]:
            return
        for name, count in counted.items():
            if count[0] < self.rows or count[1]:
                continue
            what = "the first token" if name == "first" else "the token that ends it"
            yield self.finding(
                f"{what} of every answer is left out of the loss",
                where=where.call.where,
                seen=f"no gradient in any of {count[0]} answers; {others[1]} of {others[0]} places in between have one",
                expected="a gradient for every token that the model chose",
                help="build the mask from the number of tokens written, the first and the last included",
                confidence=0.93,
            )
