"""Most of what is to be learned is clipped away."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.generations import Generations, mean
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ClippingTakesOver(Rule):
    """Most of what is to be learned is clipped away.

    ## What it checks
    The share of tokens whose ratio is clipped, in passes after the first update on the same answers.

    ## Why it matters
    A clipped token has no gradient. Where a third of them is, further passes over the same answers only move the
    rest.

    ## Likely causes
    1. Too many passes over the same answers: `num_iterations`, `steps_per_generation`. Confirm: look at the first and
       the last pass.
    2. The learning rate is too large. Confirm: divide it.
    3. Ratios of whole sequences with a range that is meant for tokens. Confirm: compare with
       `importance_sampling_level`.

    ## What to try first
    Fewer passes, or a smaller learning rate.

    ## When it is fine
    Never for long.

    ## References
    rlprobe's CLIP_SATURATION; rldoctor's clip_saturation.
    """

    code: ClassVar[str] = "POL519"
    name: ClassVar[str] = "clipping-takes-over"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Generations"
    follows: ClassVar[tuple[str, ...]] = (
        "OPT510",
        "POL511",
    )

    share: float = 0.3  # of tokens
    passes: int = 4  # that are needed

    def check(self, evidence: Generations) -> Iterator[Finding]:
        shares = [mean(each.column("clipped")) for each in evidence.passes if each.age > 0]
        late = [each for each in shares if np.isfinite(each)]
        if len(late) < self.passes:
            raise NotEnough(f"{len(late)} passes after an update on the same answers, needs {self.passes}")
        share = float(np.mean(late[len(late) // 2 :]))
        if share < self.share:
            return
        yield self.finding(
            "most of what is to be learned is clipped away",
            seen=f"{share:.0%} of the tokens in {len(late)} passes after the first update on the same answers",
            expected="a few in a hundred",
            help="fewer passes over the same answers, or a smaller learning rate",
            confidence=0.8,
        )
