"""The learning rate grows from nothing to the last update."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.rates import long_rates
from rldebug.evidence.run import Run
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class LearningRateGrows(Rule):
    """The learning rate grows from nothing to the last update.

    ## What it checks
    The learning rate over the run. It begins at a tenth of its highest value or below, never falls, is still far from
    the highest in the middle of the run, and is at its highest at the end.

    ## Why it matters
    The first part of the run learns next to nothing, and the last, which should settle, takes the largest steps.

    ## Likely causes
    1. A schedule is the wrong way round: Stable-Baselines3 gives it the share of the run that *remains*, from 1 to 0,
       and it is taken for the share that is done. Confirm: print what the schedule is given and returns at the start.
    2. A factor that should fall is one minus itself. Confirm: the same.

    ## What to try first
    Print the rate at the first and the last update.

    ## When it is fine
    A run that is cut off within its warm-up.

    ## References
    Stable-Baselines3, *Examples*: learning rate schedule.
    """

    code: ClassVar[str] = "OPT319"
    name: ClassVar[str] = "learning-rate-grows"
    severity: ClassVar[Severity] = "warning"
    needs: ClassVar[tuple[str, ...]] = ("optimizer/lr",)

    first: float = 0.1  # of the highest, with which it begins
    middle: float = 0.75  # of the highest, in the middle of the updates
    last: float = 0.999  # of the highest, at the end
    readings: int = 12  # of the rate
    updates: int = 40  # that they span

    def check(self, evidence: Run) -> Iterator[Finding]:
        for optimizer, rate in long_rates(evidence, self.readings, self.updates):
            highest = float(rate.max())
            half = (rate.update[0] + rate.update[-1]) / 2
            middle = float(np.interp(half, rate.update, rate.value))
            if highest <= 0 or rate.value[0] > self.first * highest or rate.value[-1] < self.last * highest:
                continue
            if middle > self.middle * highest or (np.diff(rate.value) < -1e-9 * highest).any():
                continue
            yield self.finding(
                f"the learning rate grows from nothing to the end of the run{optimizer}",
                where=rate.where(0),
                seen=f"{rate.value[0]:.3g} at update {rate.update[0]}, {middle:.3g} in the middle, {highest:.3g} at "
                f"update {rate.update[-1]}",
                expected="a rate that stays, or falls",
                help="turn the schedule round: what it is given may be the share of the run that remains",
                confidence=0.85,
            )
