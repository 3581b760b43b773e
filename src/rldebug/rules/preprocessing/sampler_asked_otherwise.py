"""The sampler is asked with other prompts than are trained."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.generations import Generations
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class SamplerAskedOtherwise(Rule):
    """The sampler is asked with other prompts than are trained.

    ## What it checks
    The tokens that the sampler was given as prompts, beside those that stand before the answers in training.

    ## Why it matters
    The answer to one prompt is trained as the answer to another: another template, a system message too many, a cut
    prompt.

    ## Likely causes
    1. A chat template is applied for sampling and not for training, or another one. Confirm: decode both.
    2. A system message or a hint is added for sampling only. Confirm: the same.
    3. Prompts are cut for one of the two. Confirm: compare lengths.

    ## What to try first
    Decode both prompts of one answer.

    ## When it is fine
    Hints that are given to the sampler on purpose.

    ## References
    TRL, chat templates.
    """

    code: ClassVar[str] = "PRE513"
    name: ClassVar[str] = "sampler-asked-otherwise"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Generations"

    share: float = 0.1  # of answers
    answers: int = 8  # that are needed

    def check(self, evidence: Generations) -> Iterator[Finding]:
        asked = [each for each in evidence.rounds if "asked" in each.columns]
        count = sum(len(each) for each in asked)
        if count < self.answers:
            raise NotEnough(f"what the sampler was given for {count} answers, needs {self.answers}")
        other = sum(int((each.column("asked") != each.column("prompt")).sum()) for each in asked)
        if other < self.share * count:
            return
        yield self.finding(
            "the sampler is asked with other prompts than are trained",
            seen=f"for {other} of {count} answers the tokens of the prompt differ",
            expected="the same tokens before the answer, in sampling and in training",
            help="decode both: template, system message and truncation must be the same",
            confidence=0.95,
        )
