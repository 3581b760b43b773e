"""The loss pushes tokens that are no part of the answer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.generations import Generations
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class FillerPushed(Rule):
    """The loss pushes tokens that are no part of the answer.

    ## What it checks
    The gradient of the loss at every log-prob, inside and outside of the mask of what was written.

    ## Why it matters
    Filler after the end of an answer, or what a tool has said, is made likelier or less likely as if the policy had
    written it.

    ## Likely causes
    1. The loss is averaged without the mask. Confirm: look for the mask in the last line of the loss.
    2. The mask is applied before the advantage is added, or to the wrong tensor. Confirm: follow it.
    3. A mask of other rows, or shifted by a place. Confirm: print it beside the tokens.

    ## What to try first
    Multiply the loss of each token by the mask, and divide by its sum.

    ## When it is fine
    Never.

    ## References
    TRL, `completion_mask` and `tool_mask`.
    """

    code: ClassVar[str] = "POL513"
    name: ClassVar[str] = "filler-pushed"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Generations"

    share: float = 0.01  # of all force of the loss

    def check(self, evidence: Generations) -> Iterator[Finding]:
        outside, force = evidence.passed("outside"), evidence.passed("force")
        known = np.isfinite(outside) & np.isfinite(force)
        total = float(outside[known].sum() + force[known].sum())
        if not known.any() or total == 0:
            raise NotEnough("no gradient at log-probs was seen")
        share = float(outside[known].sum()) / total
        if share < self.share:
            return
        rows = int((outside[known] > 0).sum())
        yield self.finding(
            "the loss pushes tokens that are no part of the answer",
            seen=f"{share:.0%} of the force lies outside of the mask, in {rows} of {known.sum()} answers",
            expected="no gradient at filler, or at what a tool wrote",
            help="multiply the loss of each token by the mask of the answer",
            confidence=0.96,
        )
