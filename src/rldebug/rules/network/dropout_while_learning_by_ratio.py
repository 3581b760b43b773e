"""Sequences are written and learned with dropout on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.token_scores import scored_again
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class DropoutWhileLearningByRatio(Rule):
    """Sequences are written and learned with dropout on.

    ## What it checks
    Sequences that a language model wrote are scored again for the loss, with the same weights. The log-probs of the
    written tokens differ, and the network has dropout layers and is in training mode in one of the two.

    ## Why it matters
    Every pass draws other units to leave out: the ratio between new and old policy is noise, clipping sets in at
    random, and the divergence is never nil.

    ## Likely causes
    1. `train()` was called for supervised learning and `eval()` was forgotten afterwards. Confirm: print
       `model.training` where log-probs are computed.

    ## What to try first
    Call `eval()` before sampling and learning by policy gradients; gradients flow all the same.

    ## When it is fine
    Never, where log-probs are compared.

    ## References
    Bug kind POL-14 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "NET397"
    name: ClassVar[str] = "dropout-while-learning-by-ratio"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"

    places: int = 64  # that were written and are scored again with the same weights
    apart: float = 0.02  # log-probs that differ by more
    share: float = 0.25  # of the places

    def check(self, evidence: Script) -> Iterator[Finding]:
        found = scored_again(evidence, self.apart)
        if found.judged < self.places:
            raise NotEnough(
                f"{found.judged} written tokens were scored again with the same weights, needs {self.places}"
            )
        if found.worst is None or not found.dropout or found.differing < self.share * found.judged:
            return
        yield self.finding(
            "sequences are written and learned with dropout on",
            where=found.worst.call.where,
            seen=f"another log-prob in {found.differing} of {found.judged} written tokens, with the same weights",
            expected="the same scores in both: no dropout",
            help="call eval() on the network before sampling and learning",
            confidence=0.95,
        )
