"""The tokenizer does not know much of the prompts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.generations import Generations
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class PromptsOfUnknownWords(Rule):
    """The tokenizer does not know much of the prompts.

    ## What it checks
    The share of tokens in the prompts that stand for unknown words.

    ## Why it matters
    What is unknown to the tokenizer is invisible to the policy.

    ## Likely causes
    1. The tokenizer belongs to another model. Confirm: compare the sizes of vocabulary and embedding.
    2. Text is split otherwise than the vocabulary expects: spaces, capitals. Confirm: decode a prompt.

    ## What to try first
    Decode a prompt and compare it with the data.

    ## When it is fine
    Never.

    ## References
    Transformers, tokenizers.
    """

    code: ClassVar[str] = "PRE512"
    name: ClassVar[str] = "prompts-of-unknown-words"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Generations"
    follows: ClassVar[tuple[str, ...]] = ("PRE511",)

    share: float = 0.2  # of tokens
    answers: int = 8  # whose prompts are needed

    def check(self, evidence: Generations) -> Iterator[Finding]:
        unknown = evidence.all("unknown")
        if len(unknown) < self.answers:
            raise NotEnough(f"{len(unknown)} prompts, needs {self.answers}")
        if float(unknown.mean()) < self.share:
            return
        yield self.finding(
            "the tokenizer does not know much of the prompts",
            seen=f"{unknown.mean():.0%} of the tokens of {len(unknown)} prompts stand for unknown words",
            expected="prompts that can be read back",
            help="use the tokenizer of the model; decode a prompt and compare",
            confidence=0.9,
        )
