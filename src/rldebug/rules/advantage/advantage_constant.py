"""All rows of a batch have the same advantage."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from rldebug.evidence.run import Run
from rldebug.evidence.together import together
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class AdvantageConstant(Rule):
    """All rows of a batch have the same advantage.

    ## What it checks
    The standard deviation of the advantages is exactly 0 in every batch of more than one row; and either they are the
    same number in all batches, though rewards or returns differ, or the value targets of the same rows do differ.

    ## Why it matters
    With equal weights the policy gradient points at whatever was done, or nowhere at all. Nothing can be learned.

    ## Likely causes
    1. The buffer for advantages is never filled and stays zero. Confirm: `advantage/min` and `advantage/max` are 0.
    2. They are normalised along an axis of length 1. Confirm: print the shape just before the normalisation.
    3. A clamp or an integer type cuts them all to one value. Confirm: print ten of them before and after.

    ## What to try first
    Print the first ten advantages of a batch.

    ## When it is fine
    One episode per batch, each step weighted by the episode's whole return: then they differ from batch to batch, and
    the rule stays quiet. So it does where every reward and every return is the same.

    ## References
    Schulman et al. 2016, *High-Dimensional Continuous Control Using Generalized Advantage Estimation*.
    """

    code: ClassVar[str] = "ADV002"
    name: ClassVar[str] = "advantage-constant"
    severity: ClassVar[Severity] = "error"
    aim: ClassVar[str] = "weight"
    needs: ClassVar[tuple[str, ...]] = ("advantage/mean", "advantage/std", "batch/rows")

    readings: int = 8  # fewer cannot show that it lasts
    share: float = 0.95  # of the readings that must be constant

    def check(self, evidence: Run) -> Iterator[Finding]:
        mean, std, rows = together(evidence, "advantage/mean", "advantage/std", "batch/rows")
        many = rows.value > 1
        if many.sum() < self.readings:
            raise NotEnough(f"{int(many.sum())} batches of more than one row, needs {self.readings}")
        constant = std.value[many] == 0
        if constant.mean() < self.share:
            return
        same = np.ptp(mean.value[many]) == 0 and self._something_differs(evidence)
        if not same and not self._targets_differ(evidence):
            return
        first = int(np.flatnonzero(many)[0])
        level = f"{mean.first:.4g} in every batch" if same else f"between {mean.min():.4g} and {mean.max():.4g}"
        yield self.finding(
            "every row of a batch has the same advantage",
            where=replace(evidence.call("update"), update=int(mean.update[first]), env_step=int(mean.env_step[first])),
            seen=f"standard deviation 0 in {int(constant.sum())} of {len(constant)} batches of up to "
            f"{int(rows.max())} rows; the advantage is {level}",
            expected="advantages that differ between rows, as returns do",
            help="print the first ten advantages of a batch, and follow them back to the line that fills them",
            confidence=0.97,
        )

    def _something_differs(self, run: Run) -> bool:
        """Rewards within a rollout, or returns between episodes, are not all alike: there is something to learn."""
        spreads = [run[name].finite for name in ("reward/std", "episode/return_std", "target/std")]
        returns = run["episode/return_mean"].finite
        return any(each.max() > 0 for each in spreads if len(each)) or bool(len(returns) and np.ptp(returns.value) > 0)

    def _targets_differ(self, run: Run) -> bool:
        """On the very rows whose advantages are equal, value targets are not."""
        std, target = together(run, "advantage/std", "target/std")
        return bool(len(std)) and bool(np.mean((std.value == 0) & (target.value > 0)) > self.share)
