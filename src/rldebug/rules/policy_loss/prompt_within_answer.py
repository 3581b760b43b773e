"""The answers begin with their prompts: prompts are trained too."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.generations import Generations
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class PromptWithinAnswer(Rule):
    """The answers begin with their prompts: prompts are trained too.

    ## What it checks
    The tokens of an answer, as they are trained, begin with all tokens of its prompt.

    ## Why it matters
    The policy is pushed to write, or not to write, what it was asked; and its answers stand behind two prompts.

    ## Likely causes
    1. `generate` returns prompt and answer, and the prompt was not cut off. Confirm: compare the first tokens.
    2. A rollout function returns the whole sequence as `completion_ids`. Confirm: print its lengths.

    ## What to try first
    Cut the prompt off: `sequences[:, prompt_length:]`.

    ## When it is fine
    Tasks in which the prompt is to be repeated.

    ## References
    Transformers, `generate`.
    """

    code: ClassVar[str] = "POL514"
    name: ClassVar[str] = "prompt-within-answer"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Generations"

    share: float = 0.9  # of answers
    answers: int = 16  # that are needed

    def check(self, evidence: Generations) -> Iterator[Finding]:
        repeats = evidence.all("repeats_prompt")
        long = evidence.all("prompt_tokens") > 1
        if int(long.sum()) < self.answers:
            raise NotEnough(f"{long.sum()} answers to prompts of several tokens, needs {self.answers}")
        count = int((repeats[long] > 0).sum())
        if count < self.share * long.sum():
            return
        yield self.finding(
            "the answers begin with their prompts: prompts are trained too",
            seen=f"{count} of {long.sum()} answers begin with all tokens of their prompt",
            expected="answers without the prompt",
            help="cut the prompt off what generate returns: sequences[:, prompt_length:]",
            confidence=0.93,
        )
