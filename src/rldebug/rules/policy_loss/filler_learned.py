"""The loss counts the filler after the end of sequences."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.tokens import pushed_places
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class FillerLearned(Rule):
    """The loss counts the filler after the end of sequences.

    ## What it checks
    In sequences that the model wrote, some ended early and were filled up. The gradient of the loss at the places
    after the end is not zero: the filler is learned as if it had been written.

    ## Why it matters
    Nobody chose these tokens. Their log-probs are noise in the loss, short answers weigh more or less than they
    should, and means over tokens are diluted.

    ## Likely causes
    1. The mask is not applied to the loss, or to one part of it. Confirm: sum the mask and compare with the number
       of terms of the mean.
    2. The mask is one place too long, or that of the attention, with the prompt. Confirm: print a row of tokens
       over its mask.

    ## What to try first
    Multiply the loss of each token with the mask of the written ones, and divide by its sum.

    ## When it is fine
    Never: filler is chosen by nobody.

    ## References
    Bug kind POL-16, ADV-11 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "POL383"
    name: ClassVar[str] = "filler-learned"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "scored"
    follows: ClassVar[tuple[str, ...]] = ("POL380",)

    places: int = 32  # of filler
    share: float = 0.25  # of them that are pushed

    def check(self, evidence: Script) -> Iterator[Finding]:
        judged, pushed, worst = pushed_places(evidence, "filler")
        if judged < self.places:
            raise NotEnough(f"{judged} places of filler in sequences that are learned, needs {self.places}")
        if worst is None or pushed < self.share * judged:
            return
        yield self.finding(
            "the loss counts the filler after the end of sequences",
            where=worst.call.where,
            seen=f"{pushed} of {judged} places after the end are pushed",
            expected="no gradient where nothing was written",
            help="multiply the loss of each token with the mask of those that were written",
            confidence=0.96,
        )
