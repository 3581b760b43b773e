"""Importance weights are largest where rows are drawn most often."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.importance import importance
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ImportanceWeightsRiseWithError(Rule):
    """Importance weights are largest where rows are drawn most often.

    ## What it checks
    A Q-regression has a weight for each row, between 0 and 1 with 1 as the largest of each batch, as a prioritised
    replay gives them. Batch by batch they are compared with the errors of the rows. Rows with large errors are drawn
    more often and must be weighted down; here they are weighted up, in batch after batch.

    ## Why it matters
    The weights are there to take the bias of the drawing out of the gradient. This way they double it.

    ## Likely causes
    1. The exponent of the weights is β, not -β. Confirm: the row with the largest priority has the largest weight.
    2. They are divided by the smallest weight, or inverted once more. Confirm: the same.

    ## What to try first
    `weights = (size * probability) ** -beta; weights /= weights.max()`.

    ## When it is fine
    Where rows are weighted by their errors on purpose.

    ## References
    Schaul et al. 2015, *Prioritized Experience Replay*.
    Seen in the wild: BUF-10 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "BUF350"
    name: ClassVar[str] = "importance-weights-rise-with-error"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"

    batches: int = 8  # with weights
    least: float = 0.25  # rank correlation, on average

    def check(self, evidence: Script) -> Iterator[Finding]:
        found = importance(evidence)
        if len(found) < self.batches or len({each.audit for each in found}) < 2:
            raise NotEnough(f"{len(found)} batches with importance weights were seen")
        signs = np.array([each.agreement for each in found])
        spread = float(signs.std(ddof=1)) / len(signs) ** 0.5
        if signs.mean() > self.least and signs.mean() > 5.0 * spread and (signs > 0).mean() > 0.85:
            yield self.finding(
                "rows with large errors have the largest importance weights",
                where=next((each.where for each in found if each.where.file), found[0].where),
                seen=f"weights and errors rise together in {(signs > 0).sum()} of {len(signs)} batches "
                f"(rank correlation {signs.mean():.2f})",
                expected="smaller weights where rows are drawn more often",
                help="weights = (size * probability) ** -beta, then divide by their maximum",
                confidence=0.9,
            )
