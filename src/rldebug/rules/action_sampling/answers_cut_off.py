"""Nearly all answers are cut off before they end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.generations import Generations
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class AnswersCutOff(Rule):
    """Nearly all answers are cut off before they end.

    ## What it checks
    In the later half of the rounds nearly no answer ends with a token that ends answers. It is told where none ever
    did although answers may be long, or where most did at first.

    ## Why it matters
    A cut answer is scored for what it does not say. Ending is not learned from answers that never end, and answers
    grow until the limit.

    ## Likely causes
    1. The token that ends an answer is not the one that the model writes: another chat template, another `eos_token`.
       Confirm: decode some answers with special tokens.
    2. Ending is suppressed: `min_new_tokens`, `suppress_tokens`. Confirm: look at the generation settings.
    3. `max_completion_length` is too small. Confirm: read some answers.
    4. Length is rewarded. Confirm: see ENV513.

    ## What to try first
    Read three answers with their special tokens, and compare with the tokens that the trainer takes for the end.

    ## When it is fine
    Tasks whose answers have a fixed length.

    ## References
    DAPO, section 3.4 (overlong answers); rldoctor's length_pathology.
    """

    code: ClassVar[str] = "ACT511"
    name: ClassVar[str] = "answers-cut-off"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Generations"
    follows: ClassVar[tuple[str, ...]] = ("ENV513", "OPT510", "ENT510", "POL515")

    share: float = 0.95  # of late answers that do not end
    answers: int = 64  # late ones that are needed
    at_first: float = 0.6  # at most, at the beginning
    long: int = 24  # tokens an answer may have, from which on it can be expected to end

    def check(self, evidence: Generations) -> Iterator[Finding]:
        half = len(evidence.rounds) // 2
        early = evidence.rounds[: max(1, len(evidence.rounds) // 4)]
        late = evidence.rounds[half:]
        ended = [int((each.column("ended") > 0).sum()) for each in evidence.rounds]
        count = sum(len(each) for each in late)
        if count < self.answers:
            raise NotEnough(f"{count} late answers, needs {self.answers}")
        cut = 1.0 - sum(ended[half:]) / count
        before = 1.0 - sum(ended[: len(early)]) / max(1, sum(len(each) for each in early))
        limit = evidence.settings.get("max_completion_length") or 0
        never = not sum(ended) and limit >= self.long
        if cut < self.share or not (never or before <= self.at_first):
            return
        yield self.finding(
            "no answer ever ends" if never else "nearly all answers are cut off, which they were not at first",
            seen=f"{cut:.0%} of {count} late answers do not end within {limit} tokens; at first {before:.0%}",
            expected="answers that end by themselves",
            help="read some answers with their special tokens; compare eos_token, chat template and "
            "generation settings",
            confidence=0.8,
        )
