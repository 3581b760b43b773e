"""The log-probs of an answer depend on the filler beside it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.generations import Generations
from rldebug.finding import Finding, Severity
from rldebug.forensics.answers import one_place_off
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class FillerChangesLogProbs(Rule):
    """The log-probs of an answer depend on the filler beside it.

    ## What it checks
    One answer is scored by the trainer in its batch, with filler, and alone, without: every token must have the same
    log-prob. The network itself says the same both times.

    ## Why it matters
    Short prompts and answers are trained with log-probs that are not theirs.

    ## Likely causes
    1. The mask is not passed to the model. Confirm: look for `attention_mask` in the call.
    2. The wrong places are cut out of the scores, on the side where the filler is. Confirm: compare with a batch of
       one.
    3. Prompts are filled on the right, so that filler stands between prompt and answer. Confirm: print a row.

    ## What to try first
    Score one answer alone and in a batch, and compare.

    ## When it is fine
    Never.

    ## References
    TRL, `_get_per_token_logps_and_entropies`.
    """

    code: ClassVar[str] = "POL512"
    name: ClassVar[str] = "filler-changes-log-probs"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Generations"

    off: float = 0.03  # nats a token
    times: int = 2  # that it was seen

    def check(self, evidence: Generations) -> Iterator[Finding]:
        ours, network = evidence.all("alone"), evidence.all("alone_model")
        known = np.isfinite(ours)
        if int(known.sum()) < self.times:
            raise NotEnough(f"{known.sum()} answers were scored in their batch and alone, needs {self.times}")
        wrong = known & (ours > self.off) & ~(network > self.off)
        if int(wrong.sum()) < self.times or 2 * wrong.sum() < known.sum() or one_place_off(evidence):
            return
        yield self.finding(
            "the log-probs of an answer depend on the filler beside it, though the network's do not",
            seen=f"those of {wrong.sum()} of {known.sum()} answers differ by {ours[wrong].mean():.2g} nats "
            "a token from those without",
            expected="the same, with and without filler",
            help="pass attention_mask to the model, and cut the answer out of the scores by its own places",
            confidence=0.95,
        )
