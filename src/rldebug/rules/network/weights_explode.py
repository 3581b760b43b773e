"""The weights grow to a hundred times their size, and go on growing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from rldebug.evidence.run import Run
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class WeightsExplode(Rule):
    """The weights grow to a hundred times their size, and go on growing.

    ## What it checks
    The norm of all weights of an optimizer against its first reading: a hundred times as large at the end, and still
    growing over the second half of the run. Optimizers of fewer than a thousand weights, and weights that start near
    0, are not judged.

    ## Why it matters
    Outputs and their gradients grow with the product over layers. Units saturate or die, the policy commits, and the
    next stop is NaN.

    ## Likely causes
    1. The learning rate is far too high. Confirm: `step/norm` over the first reading of `weight/norm`.
    2. A regulariser with the wrong sign: a penalty on the weights that is subtracted, a negative weight decay.
       Confirm: the norm grows at the same rate whatever the batch.
    3. A critic that chases its own predictions. Confirm: `value/max` and `target/max` grow along.
    4. Gradients are never cleared. Confirm: `gradients-not-zeroed`.

    ## What to try first
    Divide the learning rate by 30 and look at `weight/norm` again.

    ## When it is fine
    Tables and linear models that start at 0 grow to the size of the returns.

    ## References
    Ben Braiek and Khomh, *TheDeepChecker* (diverging weights). Lyle et al., *Understanding Plasticity in Neural
    Networks*.
    """

    code: ClassVar[str] = "NET006"
    name: ClassVar[str] = "weights-explode"
    severity: ClassVar[Severity] = "warning"
    needs: ClassVar[tuple[str, ...]] = ("weight/norm", "step/rms")
    follows: ClassVar[tuple[str, ...]] = ("OPT004", "OPT008")
    aftermath: ClassVar[bool] = True

    growth: float = 100.0  # over the first reading
    still: float = 1.2  # growth over the second half of the run
    weights: int = 1000  # of an optimizer; fewer are not judged
    floor: float = 0.01  # root mean square of the weights at the start
    readings: int = 16  # fewer cannot show growth

    def check(self, evidence: Run) -> Iterator[Finding]:
        judged = False
        for series in evidence.each("weight/norm"):
            norm = series.finite
            steps = evidence[series.name.replace("weight/norm", "step/norm")].finite
            rms = evidence[series.name.replace("weight/norm", "step/rms")].finite
            paired = len(steps) == len(rms)
            moved = (steps.value > 0) & (rms.value > 0) if paired else np.zeros(0, dtype=bool)
            if len(norm) < self.readings or not moved.any():
                continue
            size = float(np.median((steps.value[moved] / rms.value[moved]) ** 2))
            start = max(norm.first, 1e-30)
            if size < self.weights or start < self.floor * size**0.5:
                continue
            judged = True
            middle, end = norm.between(0.4, 0.6).median(), norm.tail(0.1).median()
            if end < self.growth * start or not end > self.still * middle:
                continue
            optimizer = series.name.partition("@")[2]
            hit = norm.at(norm.value >= self.growth * start)
            place = norm.where(-1 if hit is None else hit)
            yield self.finding(
                "the weights explode" + (f" in optimizer {optimizer}" if optimizer else ""),
                where=replace(evidence.call("update"), update=place.update, env_step=place.env_step),
                seen=f"norm {norm.first:.3g} at update {norm.update[0]}, {middle:.3g} half way, {end:.3g} at the end",
                expected=f"less than {self.growth:g} times the start, and levelling out",
                help="divide the learning rate by 30; then look for a penalty or weight decay with the wrong sign",
                confidence=0.85,
            )
        if not judged:
            raise NotEnough(f"fewer than {self.readings} readings of a network of {self.weights} weights or more")
