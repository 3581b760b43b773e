"""Different prompts reach the policy as the same tokens."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.generations import Generations
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class PromptsToldApartNoMore(Rule):
    """Different prompts reach the policy as the same tokens.

    ## What it checks
    Prompts that differ in the data, and are the same tokens when the policy gets them.

    ## Why it matters
    What the prompts ask is lost: one answer has to do for all of them.

    ## Likely causes
    1. Prompts are cut to a length, on the side where the question is. Confirm: decode what the policy gets.
    2. The tokenizer knows none of the words. Confirm: look for its token for unknown words.
    3. A template fills in a constant instead of the question. Confirm: decode.

    ## What to try first
    Decode the tokens of two prompts.

    ## When it is fine
    Prompts that differ only in what the answer is compared with; in the data the prompt itself is the same then.

    ## References
    TRL, dataset formats.
    """

    code: ClassVar[str] = "PRE511"
    name: ClassVar[str] = "prompts-told-apart-no-more"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Generations"

    share: float = 0.5  # of different prompts that are the same as another
    prompts: int = 4  # different ones that are needed

    def check(self, evidence: Generations) -> Iterator[Finding]:
        if not any("text" in each.columns for each in evidence.rounds):
            raise NotEnough("the prompts of the data were not seen")
        texts: dict[int, set[int]] = {}
        for text, prompt in zip(evidence.all("text"), evidence.all("prompt"), strict=True):
            if text == text:  # a round whose data was not seen has NaN
                texts.setdefault(int(prompt), set()).add(int(text))
        different = len({each for group in texts.values() for each in group})
        if different < self.prompts:
            raise NotEnough(f"{different} different prompts, needs {self.prompts}")
        lost = sum(len(group) for group in texts.values() if len(group) > 1)
        if lost < self.share * different:
            return
        yield self.finding(
            "different prompts reach the policy as the same tokens",
            seen=f"{lost} of {different} prompts look like another one; there are {len(texts)} different "
            "sequences of tokens",
            expected="prompts that differ in their tokens",
            help="decode what the policy gets: look at truncation, template and vocabulary",
            confidence=0.95,
        )
