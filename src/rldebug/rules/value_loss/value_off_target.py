"""Predictions stop far from their targets."""

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
class ValueOffTarget(Rule):
    """Value predictions stop far away from their targets.

    ## What it checks
    Late in the run the mean prediction is several standard deviations of the targets away from the mean target, always
    on the same side, and a large share of the targets' size. It has stopped moving, though the learning rate has not.

    ## Why it matters
    All advantages get the same sign, and bootstrapped targets a constant error.

    ## Likely causes
    1. The value head cannot put out such numbers: a tanh at its end, or values clipped around 0 instead of around the
       old value. Confirm: `value/min` and `value/max` sit at a bound, such as ±1 or ± the clip range.
    2. Gradients of the value loss vanish, in a saturated layer or a constant clip. Confirm: `grad/norm` falls to 0
       while `loss/value` does not.
    3. Predictions are normalised and targets are not. Confirm: `value/std` is near 1, `target/std` is not.

    ## What to try first
    Print the bounds of the predictions beside those of the targets.

    ## When it is fine
    A critic that is still on its way, however slowly; targets that are nearly constant and nearly met.

    ## References
    Jones, *Debugging RL, Without the Agonizing Pain* (value distribution). vwxyzjn/cleanrl commit ee728e92.
    """

    code: ClassVar[str] = "VAL006"
    name: ClassVar[str] = "value-off-target"
    severity: ClassVar[Severity] = "warning"
    needs: ClassVar[tuple[str, ...]] = ("value/mean", "target/mean", "target/std")
    follows: ClassVar[tuple[str, ...]] = ("VAL001", "VAL004", "VAL007", "VAL008", "NET003", "NET004", "GRA002")
    aftermath: ClassVar[bool] = True

    updates: int = 300  # learner steps before a critic can be expected to be near
    rows: int = 8  # per batch
    readings: int = 30  # fewer cannot show that it lasts
    apart: float = 1.5  # standard deviations of the targets
    size: float = 0.5  # share of the targets' mean size
    way: float = 0.15  # movement in the second half over movement in the first, below which it has stopped

    def check(self, evidence: Run) -> Iterator[Finding]:
        value, target, spread = together(evidence, "value/mean", "target/mean", "target/std")
        if len(value) < self.readings or value.updates < self.updates:
            raise NotEnough(
                f"{len(value)} readings over {value.updates} updates, needs {self.readings} over {self.updates}"
            )
        if evidence["batch/rows"].finite.median() < self.rows:
            raise NotEnough(f"batches of under {self.rows} rows, whose spread says nothing")
        late_value, late_target, width = (each.tail(0.25) for each in (value, target, spread))
        gap = late_target.value - late_value.value
        typical = float(np.median(np.abs(gap)))
        one_sided = max(np.mean(gap > 0), np.mean(gap < 0)) > 0.95
        if not one_sided or typical < self.apart * width.median() or typical < self.size * abs(late_target.median()):
            return
        start, middle, end = float(np.median(value.value[:3])), value.between(0.4, 0.6).median(), late_value.median()
        toward = 1.0 if late_target.median() > end else -1.0
        first, second = toward * (middle - start), toward * (end - middle)
        if second > self.way * max(first, 0.0) and second > 0.005 * typical:
            return
        if any(each.tail(0.1).median() < 0.1 * each.max() for each in evidence.each("optimizer/lr")):
            return
        low, high = evidence["value/min"].tail(0.25).min(), evidence["value/max"].tail(0.25).max()
        bounds = f" (all between {low:.4g} and {high:.4g})" if np.isfinite([low, high]).all() else ""
        yield self.finding(
            "predictions have stopped far from their targets",
            where=replace(
                evidence.call("update"), update=int(late_value.update[0]), env_step=int(late_value.env_step[0])
            ),
            seen=f"mean value {start:.4g} at the start, {middle:.4g} halfway, {end:.4g} at the end{bounds}; targets "
            f"{late_target.median():.4g} ± {width.median():.3g}",
            expected=f"within {self.apart:g} standard deviations of the targets, or on the way there",
            help="check what bounds the value head's output: an activation at its end, or a clip around 0",
            confidence=0.75,
        )
