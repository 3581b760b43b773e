"""The mask leaves nothing of most answers to be learned."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.generations import Generations
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class NothingWithinTheMask(Rule):
    """The mask leaves nothing of most answers to be learned.

    ## What it checks
    How many tokens of each answer lie within the mask of the loss.

    ## Why it matters
    What is masked is not trained. If that is nearly everything, training costs as much as ever and does nothing.

    ## Likely causes
    1. `mask_truncated_completions=True`, and no answer ends within `max_completion_length`. Confirm: look at the
       share of cut answers.
    2. A mask of zeros from a rollout function: `env_mask` the wrong way round. Confirm: sum it up.

    ## What to try first
    Raise `max_completion_length`, or leave cut answers in.

    ## When it is fine
    Never.

    ## References
    DAPO, section 3.4 (overlong filtering).
    """

    code: ClassVar[str] = "POL521"
    name: ClassVar[str] = "nothing-within-the-mask"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Generations"

    share: float = 0.9  # of answers
    answers: int = 16  # that are needed

    def check(self, evidence: Generations) -> Iterator[Finding]:
        learned, tokens = evidence.all("learned"), evidence.all("tokens")
        written = tokens > 0
        if int(written.sum()) < self.answers:
            raise NotEnough(f"{written.sum()} answers, needs {self.answers}")
        empty = int((learned[written] == 0).sum())
        if empty < self.share * written.sum():
            return
        cut = evidence.settings.get("mask_truncated_completions")
        ended = int((evidence.all("ended")[written] > 0).sum())
        yield self.finding(
            "the mask leaves nothing of most answers to be learned",
            seen=f"{empty} of {written.sum()} answers have no token within the mask; {ended} end by themselves",
            expected="a mask over what the policy wrote",
            help="raise max_completion_length, or mask_truncated_completions=False"
            if cut
            else "look at what makes the mask",
            confidence=0.96,
        )
