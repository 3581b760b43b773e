"""Tokens get other scores in the loss than when they were written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.token_scores import scored_again
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class SequencesScoredUnlikeWritten(Rule):
    """Tokens get other scores in the loss than when they were written.

    ## What it checks
    Sequences that the model wrote are scored again for the loss, with the same weights. The log-probs of the
    written tokens must come out the same; they do not.

    ## Why it matters
    The ratio between new and old policy is wrong from the first update, and the gradient belongs to a policy that
    did not write these sequences.

    ## Likely causes
    1. The attention mask or the positions are not passed, so padding is attended to. Confirm: pass the same mask as
       in generation, and compare.
    2. The sequence is cut or padded on the other side. Confirm: decode one row of the batch.

    ## What to try first
    Score one batch right after it was written, in the same mode and with the same mask, and compare log-probs.

    ## When it is fine
    Never: with equal weights the two must agree but for rounding.

    ## References
    Bug kinds POL-14 and POL-16 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "POL382"
    name: ClassVar[str] = "sequences-scored-unlike-written"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "scored"
    follows: ClassVar[tuple[str, ...]] = ("POL380",)

    places: int = 64  # that were written and are scored again with the same weights
    apart: float = 0.02  # log-probs that differ by more
    share: float = 0.1  # of the places

    def check(self, evidence: Script) -> Iterator[Finding]:
        found = scored_again(evidence, self.apart)
        if found.judged < self.places:
            raise NotEnough(
                f"{found.judged} written tokens were scored again with the same weights, needs {self.places}"
            )
        if found.worst is None or found.dropout or found.differing < self.share * found.judged:
            return
        yield self.finding(
            "sequences are scored differently in the loss than when they were written",
            where=found.worst.call.where,
            seen=f"another log-prob in {found.differing} of {found.judged} written tokens, with the same weights",
            expected="the same scores: the same mask, positions and mode",
            help="pass the same attention mask and positions as in generation",
            confidence=0.95,
        )
