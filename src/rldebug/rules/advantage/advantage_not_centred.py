"""Advantages keep one sign though the critic is not biased."""

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
class AdvantageNotCentred(Rule):
    """Advantages keep one sign though the critic has no bias.

    ## What it checks
    On batches that have not been learned from yet, late in the run: the mean advantage is always on the same side, more
    than a standard deviation from 0. The error of the critic on the same rows, target − value, is not: measured in its
    own standard deviation, its mean is a small part of that.

    ## Why it matters
    An advantage says how much better an action was than expected, so on average it is 0. If all are positive every
    action taken is made more likely, good or bad, and what is left of the signal drowns in variance.

    ## Likely causes
    1. The baseline is not subtracted: the advantage is the return. Confirm: `advantage/mean` equals `target/mean`.
    2. It is subtracted on another scale, or from another quantity, such as reward − value. Confirm: print return, value
       and advantage of ten rows.
    3. The advantage is divided by its standard deviation, and its mean is not removed. Confirm: `advantage/std` is 1.

    ## What to try first
    Print return − value beside the advantage for ten rows.

    ## When it is fine
    A critic that lags behind rising returns: its own error is then as far from 0, and the rule stays quiet. Plain
    REINFORCE without a baseline has no value to compare with and is not judged.

    ## References
    Jones, *Debugging RL, Without the Agonizing Pain* (advantage distribution). natolambert/rlhf-book PR 216.
    """

    code: ClassVar[str] = "ADV001"
    name: ClassVar[str] = "advantage-not-centred"
    severity: ClassVar[Severity] = "warning"
    needs: ClassVar[tuple[str, ...]] = ("advantage/mean", "advantage/std", "value/mean", "target/mean", "batch/rows")
    follows: ClassVar[tuple[str, ...]] = ("ADV003", "ADV004", "VAL004", "VAL005", "VAL007", "DIS003")
    aftermath: ClassVar[bool] = True

    readings: int = 6  # of batches not learned from yet, late in the run
    off: float = 1.0  # standard deviations of the advantage that its mean is from 0
    bias: float = 0.25  # of that, which the critic's own error may have
    share: float = 0.95  # of the readings that must be on the same side
    rows: int = 8  # smaller batches have no mean to speak of

    def check(self, evidence: Run) -> Iterator[Finding]:
        names = ("advantage/mean", "advantage/std", "value/mean", "target/mean", "target/std", "value/residual_var")
        lines = [each.tail(0.5) for each in together(evidence, *names, "batch/rows", fresh=True)]
        mean, std, value, target, spread, residual, rows = (each.value for each in lines)
        if len(mean) < self.readings:
            raise NotEnough(f"{len(mean)} batches not learned from yet, late in the run; needs {self.readings}")
        error = np.sqrt(residual) * spread
        judged = (std > 0) & (error > 0) & (rows >= self.rows)
        if judged.sum() < self.readings:
            return
        off = mean[judged] / std[judged]
        bias = (target - value)[judged] / error[judged]
        typical = float(np.median(np.abs(off)))
        one_sided = max(np.mean(off > 0), np.mean(off < 0)) >= self.share
        if not one_sided or typical < self.off or float(np.median(np.abs(bias))) > self.bias * typical:
            return
        yield self.finding(
            "advantages are not centred though the critic is not biased",
            where=replace(evidence.call("update"), update=int(lines[0].update[0]), env_step=int(lines[0].env_step[0])),
            seen=f"mean advantage {np.median(mean):.4g} ± {np.median(std):.3g}, mean target {np.median(target):.4g}, "
            f"mean value {np.median(value):.4g} in the last {len(mean)} fresh batches",
            expected=f"a mean advantage near mean target − mean value = {np.median(target - value):.3g}",
            help="print return − value beside the advantage for ten rows",
            confidence=0.8,
        )
