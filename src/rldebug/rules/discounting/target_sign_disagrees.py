"""Targets have the other sign than all rewards."""

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
class TargetSignDisagrees(Rule):
    """Value targets have the other sign than all rewards.

    ## What it checks
    All rewards of the run have one sign (or are 0). Late in the run nearly all targets of nearly every batch have the
    other sign, at a size that is not small beside the rewards.

    ## Why it matters
    A sum of rewards that are never negative is never negative: the way from rewards to targets is broken.

    ## Likely causes
    1. The reward enters the target with a minus, or costs and rewards are mixed up. Confirm: print reward and target
       of a terminal step; they must be equal.
    2. A baseline or a running mean is subtracted from the targets. Confirm: `target/mean` plus that mean has the sign
       of the rewards.
    3. The critic starts far on the wrong side and targets are all bootstrap. Confirm: `target/mean` drifts to 0,
       slowly.

    ## What to try first
    Print reward and target of a terminal step; they must be equal.

    ## When it is fine
    Targets that hold an entropy bonus (soft actor-critic) are not judged. Standardised targets have both signs.

    ## References
    Jones, *Debugging RL, Without the Agonizing Pain* (value distribution).
    """

    code: ClassVar[str] = "DIS005"
    name: ClassVar[str] = "target-sign-disagrees"
    severity: ClassVar[Severity] = "warning"
    aim: ClassVar[str] = "formula"
    needs: ClassVar[tuple[str, ...]] = ("target/mean", "target/min", "target/max")
    follows: ClassVar[tuple[str, ...]] = ("VAL003", "VAL004", "VAL007", "OPT004")
    aftermath: ClassVar[bool] = True

    updates: int = 200  # learner steps before bootstrapped targets can be expected to have the sign right
    readings: int = 20  # fewer cannot show that it lasts
    share: float = 0.9  # of late readings that must agree
    size: float = 0.3  # of the largest reward, below which a wrong sign is noise

    def check(self, evidence: Run) -> Iterator[Finding]:
        lines = together(evidence, "target/mean", "target/min", "target/max")
        if len(lines[0]) < self.readings or lines[0].updates < self.updates:
            raise NotEnough(
                f"{len(lines[0])} readings over {lines[0].updates} updates, needs {self.readings} over {self.updates}"
            )
        actor_critic = "loss/policy" in evidence or {"policy", "critic"} <= set(evidence.meta.get("modules", {}))
        if "replay/reward_max" in evidence and actor_critic:
            raise NotEnough("the targets of an off-policy actor-critic may hold an entropy bonus")
        sign, largest, per_step = self._rewards(evidence)
        mean, low, high = (each.tail(0.4).value for each in lines)
        if sign < 0:
            mean, low, high = -mean, -high, -low
        wrong = (high <= 0.1 * np.abs(low)) & (mean < -max(self.size * largest, per_step))
        if sign == 0 or float(np.mean(wrong)) < self.share:
            return
        target = lines[0].tail(0.4)
        # On its way to the right sign, however slowly: what the critic started from is wearing off.
        halves = [target.head(0.5).median(), target.tail(0.5).median()]
        if abs(halves[1]) < 0.8 * abs(halves[0]):
            return
        yield self.finding(
            "targets have the other sign than all rewards",
            where=replace(evidence.call("update"), update=int(target.update[0]), env_step=int(target.env_step[0])),
            seen=f"rewards all {'≥' if sign > 0 else '≤'} 0, up to {sign * largest:.3g}; mean target "
            f"{target.median():.4g}, largest {float(np.max(high)) * sign:.3g}, over the last {len(target)} readings",
            expected=f"targets {'above' if sign > 0 else 'below'} 0",
            help="print reward and target of a terminal step; they must be equal",
            confidence=0.85,
        )

    def _rewards(self, run: Run) -> tuple[int, float, float]:
        """Their common sign (0 if there is none), the size of the largest, and the size of the mean."""
        for family in ("reward/", "replay/reward_"):
            low, high, mean = (run[family + name].finite for name in ("min", "max", "mean"))
            if len(low) and len(high):
                least, most = low.min(), high.max()
                sign = 1 if least >= 0 < most else -1 if most <= 0 > least else 0
                return sign, max(abs(least), abs(most)), abs(mean.tail(0.4).mean())
        raise NotEnough("no rewards were handed over")
