"""Advantages belong to other rows than values and targets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from rldebug.evidence.run import Run
from rldebug.evidence.together import pooled_correlation, together
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class AdvantageRowsMispaired(Rule):
    """Advantages belong to other rows than values and targets do.

    ## What it checks
    On batches that have not been learned from yet, the correlation of the advantage with target − value, pooled over
    all rows, is 0: over the run, and over its first third. Whatever the estimators, both say of the same step whether
    it went better than expected, so they go together clearly.

    ## Why it matters
    Each action is credited with what happened at some other step. The policy learns from noise.

    ## Likely causes
    1. One array is flattened time first, the other environment first. Confirm: `(T, B)` arrays must all be reshaped in
       the same way; a transpose before one of them is enough.
    2. They are shuffled or indexed separately. Confirm: every array of a minibatch must use the same index tensor.
    3. Advantages are shifted by a step. Confirm: on the whole rollout, compare return − value with the advantage.

    ## What to try first
    Before shuffling, compare return − value with the advantage row by row.

    ## When it is fine
    Never, over thousands of fresh rows, unless value and target come from another critic than the advantage does.

    ## References
    DLR-RM/stable-baselines3 issue 105. Huang et al. 2022, *The 37 Implementation Details of PPO*.
    """

    code: ClassVar[str] = "ADV004"
    name: ClassVar[str] = "advantage-rows-mispaired"
    severity: ClassVar[Severity] = "warning"
    aim: ClassVar[str] = "weight"
    needs: ClassVar[tuple[str, ...]] = ("advantage/residual_corr", "batch/rows")
    follows: ClassVar[tuple[str, ...]] = ("VAL005",)

    rows: int = 600  # fresh rows over the run
    early: int = 200  # fresh rows in its first third
    none: float = 0.2  # correlation that counts as none, over the run and with twice its error added
    start: float = 0.35  # the same in the first third
    batches: int = 6  # fewer may all be odd

    def check(self, evidence: Run) -> Iterator[Finding]:
        corr, rows = together(evidence, "advantage/residual_corr", "batch/rows", fresh=True)
        first_corr, first_rows = corr.head(1 / 3), rows.head(1 / 3)
        if rows.value.sum() < self.rows or first_rows.value.sum() < self.early or len(corr) < self.batches:
            raise NotEnough(f"{int(rows.value.sum())} rows not learned from yet, needs {self.rows}")
        pooled, error = pooled_correlation(corr.value, rows.value)
        start, start_error = pooled_correlation(first_corr.value, first_rows.value)
        if abs(pooled) + 2 * error > self.none or abs(start) + 2 * start_error > self.start:
            return
        yield self.finding(
            "advantages belong to other rows than values and targets",
            where=replace(evidence.call("update"), update=int(corr.update[0]), env_step=int(corr.env_step[0])),
            seen=f"correlation of advantage and target − value {pooled:+.3f} over {int(rows.value.sum())} fresh rows "
            f"in {len(corr)} batches",
            expected="close to 1 where targets are advantage + value, and clearly positive in any case",
            help="before shuffling, compare return − value with the advantage row by row",
            confidence=0.9,
        )
