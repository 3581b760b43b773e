"""Predictions have the other sign than all rewards."""

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
class ValueSignDisagrees(Rule):
    """Values have the other sign than all rewards and targets.

    ## What it checks
    All rewards of the run have one sign (or are 0), and so have the targets late in the run; yet nearly all predictions
    have the other sign, at a size comparable with the targets'.

    ## Why it matters
    A sum of rewards that are never negative is never negative: no discount and no policy can make it so.

    ## Likely causes
    1. The value loss adds where it should subtract, `(value + target)²`. Confirm: `value/mean` is near
       minus `target/mean`.
    2. The sign is turned between the network and the loss, for one of the two. Confirm: print both for ten rows.
    3. The critic is not trained and happens to start there. Confirm: `value/mean` does not move.

    ## What to try first
    Print value and target of ten rows side by side.

    ## When it is fine
    Predictions that are standardised have both signs and do not count. Small values of the wrong sign do not, either.

    ## References
    Jones, *Debugging RL, Without the Agonizing Pain* (value distribution).
    """

    code: ClassVar[str] = "VAL007"
    name: ClassVar[str] = "value-sign-disagrees"
    severity: ClassVar[Severity] = "warning"
    needs: ClassVar[tuple[str, ...]] = ("value/min", "value/max", "target/min", "target/max")
    follows: ClassVar[tuple[str, ...]] = ("GRA003", "GRA009", "OPT001", "OPT003", "OPT007", "NET005")
    aftermath: ClassVar[bool] = True

    updates: int = 200  # learner steps before a critic can be expected to have the sign right
    readings: int = 20  # fewer cannot show that it lasts
    size: float = 0.2  # of the targets, below which a wrong sign is noise
    share: float = 0.9  # of late readings that must agree

    def check(self, evidence: Run) -> Iterator[Finding]:
        names = ("value/mean", "value/min", "value/max", "target/mean", "target/min", "target/max")
        lines = together(evidence, *names)
        if len(lines[0]) < self.readings or lines[0].updates < self.updates:
            raise NotEnough(
                f"{len(lines[0])} readings over {lines[0].updates} updates, needs {self.readings} over {self.updates}"
            )
        sign = self._reward_sign(evidence)
        mean, low, high, target, target_low, target_high = (each.tail(0.4).value for each in lines)
        if sign < 0:
            mean, low, high = -mean, -high, -low
            target, target_low, target_high = -target, -target_high, -target_low
        right = (target > 0) & (target_low >= -0.05 * target_high)
        wrong = (high <= 0.1 * np.abs(low)) & (mean < -self.size * target) & (mean > -target / self.size)
        if sign == 0 or float(np.mean(right & wrong)) < self.share:
            return
        value, aim = lines[0].tail(0.4), lines[3].tail(0.4)
        yield self.finding(
            "predictions have the other sign than all rewards and targets",
            where=replace(evidence.call("update"), update=int(value.update[0]), env_step=int(value.env_step[0])),
            seen=f"rewards all {'≥' if sign > 0 else '≤'} 0, mean target {aim.median():.4g}, mean value "
            f"{value.median():.4g} over the last {len(value)} readings",
            expected=f"values {'above' if sign > 0 else 'below'} 0",
            help="check the sign of the target in the value loss",
            confidence=0.85,
        )

    def _reward_sign(self, run: Run) -> int:
        """1 if no reward was negative and some were positive, −1 for the opposite, else 0."""
        for low, high in (("reward/min", "reward/max"), ("replay/reward_min", "replay/reward_max")):
            least, most = run[low].min(), run[high].max()
            if np.isfinite([least, most]).all():
                return 1 if least >= 0 < most else -1 if most <= 0 > least else 0
        raise NotEnough("no rewards were handed over")
