"""The policy gradient counts the tokens of the prompt."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.tokens import pushed_places
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class PromptLearned(Rule):
    """The policy gradient counts the tokens of the prompt.

    ## What it checks
    In sequences that the model wrote, the places of the prompt get a gradient too, though the model did not choose
    these tokens.

    ## Why it matters
    The reward is credited to choices that nobody made: the model learns to write prompts, and the more of them the
    longer they are.

    ## Likely causes
    1. The mask is that of the attention: it holds the prompt as well. Confirm: print a row of tokens over its mask.
    2. Log-probs are computed for the whole sequence and not cut. Confirm: compare their length with that of the
       answer.

    ## What to try first
    Set the mask to zero up to the last token of the prompt.

    ## When it is fine
    A second loss that imitates texts, prompts included, is computed for other sequences and not counted.

    ## References
    Bug kind POL-17 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "POL384"
    name: ClassVar[str] = "prompt-learned"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "scored"
    follows: ClassVar[tuple[str, ...]] = ("POL380",)

    places: int = 32  # of prompts
    share: float = 0.25  # of them that are pushed

    def check(self, evidence: Script) -> Iterator[Finding]:
        judged, pushed, worst = pushed_places(evidence, "prompt")
        if judged < self.places:
            raise NotEnough(f"{judged} places of prompts in sequences that are learned, needs {self.places}")
        if worst is None or pushed < self.share * judged:
            return
        yield self.finding(
            "the policy gradient counts the tokens of the prompt",
            where=worst.call.where,
            seen=f"{pushed} of {judged} places of prompts are pushed",
            expected="a gradient only where the model chose the token",
            help="leave the prompt out of the mask",
            confidence=0.95,
        )
