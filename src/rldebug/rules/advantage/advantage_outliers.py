"""A single row outweighs the rest of its batch."""

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
class AdvantageOutliers(Rule):
    """Single rows outweigh the rest of their batch.

    ## What it checks
    In most batches the largest advantage is more than ten standard deviations from the mean.

    ## Why it matters
    One row of hundreds decides the direction of the step, and after normalising it leaves the others next to nothing.

    ## Likely causes
    1. A reward far larger than the others, at the end of episodes or by mistake. Confirm: `histogram/reward`.
    2. An ending that is bootstrapped wrongly, so that its error is the size of a whole return. Confirm: look up which
       row it is; is it always the last step of an episode, or of the rollout?
    3. A critic that is far off in rare states. Confirm: `value/min` and `value/max` beside the targets'.

    ## What to try first
    Print the step, reward, value and flags of the row with the largest advantage.

    ## When it is fine
    Sparse rewards: the rare row that got one is an outlier by nature.

    ## References
    Jones, *Debugging RL, Without the Agonizing Pain* (advantage distribution).
    """

    code: ClassVar[str] = "ADV005"
    name: ClassVar[str] = "advantage-outliers"
    severity: ClassVar[Severity] = "note"
    needs: ClassVar[tuple[str, ...]] = (
        "advantage/mean",
        "advantage/std",
        "advantage/min",
        "advantage/max",
        "batch/rows",
    )

    readings: int = 15  # fewer cannot show that it lasts
    far: float = 10.0  # standard deviations
    share: float = 0.5  # of the batches

    def check(self, evidence: Run) -> Iterator[Finding]:
        mean, std, low, high, rows = together(evidence, *self.needs)
        # Of N rows none is more than √(N − 1) standard deviations away, whatever it is.
        judged = (std.value > 0) & (rows.value > self.far**2 + 1)
        if judged.sum() < self.readings:
            raise NotEnough(
                f"{int(judged.sum())} batches of more than {int(self.far**2) + 1} rows, needs {self.readings}"
            )
        reach = np.maximum(high.value - mean.value, mean.value - low.value)[judged] / std.value[judged]
        if float(np.mean(reach > self.far)) < self.share:
            return
        worst = int(np.flatnonzero(judged)[np.argmax(reach)])
        yield self.finding(
            "single rows outweigh the rest of their batch",
            where=replace(evidence.call("update"), update=int(mean.update[worst]), env_step=int(mean.env_step[worst])),
            seen=f"the largest advantage is {np.median(reach):.1f} standard deviations from the mean in the median "
            f"batch, {reach.max():.1f} at most",
            expected=f"below {self.far:g}, ideally 3",
            help="print the step, reward, value and flags of the row with the largest advantage",
            confidence=0.8,
        )
