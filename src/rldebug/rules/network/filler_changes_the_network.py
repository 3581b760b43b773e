"""What the network says of an answer depends on filler beside it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.generations import Generations
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class FillerChangesTheNetwork(Rule):
    """What the network says of an answer depends on filler beside it.

    ## What it checks
    One answer is scored in its batch, with filler, and alone, without: the network itself must say the same of every
    token. In evaluation mode, without a graph, and with generators put back.

    ## Why it matters
    Short answers are trained with log-probs that are not theirs; the sampler, whose batches are filled otherwise, had
    others.

    ## Likely causes
    1. The model does not use the attention mask. Confirm: follow `attention_mask` through its `forward`.
    2. Positions count the filler: a model with learned positions, given no `position_ids`. Confirm: pass
       `position_ids = mask.cumsum(-1) - 1`.
    3. Something is normalised over the batch. Confirm: look for a batch norm.

    ## What to try first
    Call the model with one sequence, padded on the left and not, and compare.

    ## When it is fine
    Never.

    ## References
    Transformers, `generate` with left padding.
    """

    code: ClassVar[str] = "NET511"
    name: ClassVar[str] = "filler-changes-the-network"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Generations"

    off: float = 0.03  # nats a token
    times: int = 2  # that it was seen

    def check(self, evidence: Generations) -> Iterator[Finding]:
        said = evidence.all("alone_model")
        said = said[np.isfinite(said)]
        if len(said) < self.times:
            raise NotEnough(f"{len(said)} answers were scored in their batch and alone, needs {self.times}")
        wrong = said[said > self.off]
        if len(wrong) < self.times or 2 * len(wrong) < len(said):
            return
        yield self.finding(
            "what the network says of an answer depends on the filler beside it",
            seen=f"the log-probs of {len(wrong)} of {len(said)} answers differ by {wrong.mean():.2g} nats "
            "a token from those without",
            expected="the same, with and without filler",
            help="make the model use attention_mask, and positions that do not count filler",
            confidence=0.95,
        )
