"""Prompts begin with the token that begins a text twice."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.generations import Generations
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class BeginningTwice(Rule):
    """Prompts begin with the token that begins a text twice.

    ## What it checks
    The first two tokens of the prompts, as the policy gets them.

    ## Why it matters
    The model has never seen such a beginning: it answers worse, from the first step on, and nobody notices.

    ## Likely causes
    1. The chat template was applied already, and the tokenizer adds the token again. Confirm: print the first ids of
       a prompt.
    2. Prompts in the data have it as text. Confirm: print one.

    ## What to try first
    Give the trainer messages, not text that a template has been applied to; or `add_special_tokens=False`.

    ## When it is fine
    Models that were trained so.

    ## References
    Transformers, chat templates ('add_special_tokens').
    """

    code: ClassVar[str] = "PRE510"
    name: ClassVar[str] = "beginning-twice"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Generations"

    share: float = 0.5  # of prompts
    answers: int = 8  # that are needed

    def check(self, evidence: Generations) -> Iterator[Finding]:
        twice = evidence.all("begins_twice")
        if len(twice) < self.answers:
            raise NotEnough(f"{len(twice)} prompts, needs {self.answers}")
        if float((twice > 0).mean()) < self.share:
            return
        yield self.finding(
            "prompts begin with the token that begins a text twice",
            seen=f"{int((twice > 0).sum())} of {len(twice)} prompts",
            expected="one such token",
            help="give the trainer plain messages, or text without the token",
            confidence=0.9,
        )
