"""Value targets grow without end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from rldebug.evidence.run import Run, Series
from rldebug.evidence.together import together
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class TargetsBlowUp(Rule):
    """Value targets grow by orders of magnitude, beyond all rewards.

    ## What it checks
    The largest target of a batch is more than ten times what the rewards seen so far allow (the largest reward over
    1 − γ, or the largest return of an episode), a hundred times what it was at the start, and still growing.

    ## Why it matters
    Bootstrapping feeds the growth back into itself. Losses, gradients and at last the weights go with it.

    ## Likely causes
    1. The next value enters with a weight above 1: two critics added instead of the smaller one taken, a discount above
       1, or the discount left out of a sum that never ends. Confirm: print reward, next value and target of one row.
    2. The critic diverges by itself, from a learning rate that is too high or a loss of the wrong sign. Confirm:
       `value/residual_var` far above 1.
    3. Bootstrapping from the network that is being trained, without a target network. Confirm: `target_net/distance`.

    ## What to try first
    Print reward, next value, discount and target of one row, and redo the sum by hand.

    ## When it is fine
    Growth up to what rewards and discount allow is how bootstrapped targets learn. Rewards that are scaled between
    rollout and target shift the bound, but then targets level out.

    ## References
    van Hasselt et al. 2018, *Deep Reinforcement Learning and the Deadly Triad*. Jones, *Debugging RL, Without the
    Agonizing Pain* (value target distribution).
    """

    code: ClassVar[str] = "DIS003"
    name: ClassVar[str] = "targets-blow-up"
    severity: ClassVar[Severity] = "error"
    aim: ClassVar[str] = "formula"
    needs: ClassVar[tuple[str, ...]] = ("target/min", "target/max")
    follows: ClassVar[tuple[str, ...]] = ("VAL003", "VAL004", "VAL005", "OPT004", "OPT008", "TGT002", "TGT003")
    aftermath: ClassVar[bool] = True

    readings: int = 15  # fewer cannot show growth
    beyond: float = 10.0  # times what rewards and discount allow
    growth: float = 100.0  # times the start
    lately: float = 3.0  # times the middle of the run

    def check(self, evidence: Run) -> Iterator[Finding]:
        low, high = together(evidence, "target/min", "target/max")
        if len(low) < self.readings:
            raise NotEnough(f"{len(low)} readings of the targets, needs {self.readings}")
        bound, why = self._bound(evidence)
        size = Series("target", low.update, low.env_step, np.maximum(np.abs(low.value), np.abs(high.value)))
        start, middle, end = size.head(0.02).median(), size.between(0.4, 0.6).median(), size.tail(0.1).median()
        if end < self.beyond * bound or end < self.growth * start or end < self.lately * middle:
            return
        first = size.at(size.value > self.beyond * bound) or 0
        yield self.finding(
            "value targets grow without end",
            where=replace(evidence.call("update"), update=int(size.update[first]), env_step=int(size.env_step[first])),
            seen=f"largest target {start:.3g} at the start, {middle:.3g} halfway, {end:.3g} at the end",
            expected=f"at most {bound:.3g}: {why}",
            help="print reward, next value, discount and target of one row, and redo the sum by hand",
            confidence=0.95,
        )

    def _bound(self, run: Run) -> tuple[float, str]:
        rewards = [run[name].finite for name in ("reward/min", "reward/max", "replay/reward_min", "replay/reward_max")]
        largest = max((float(np.abs(each.value).max()) for each in rewards if len(each)), default=0.0)
        returns = [run[name].finite for name in ("episode/return_min", "episode/return_max")]
        total = max((float(np.abs(each.value).max()) for each in returns if len(each)), default=0.0)
        if run.gamma is not None and run.gamma < 1 and largest > 0:
            bound = largest / (1.0 - run.gamma)
            if bound >= total:
                return bound, f"rewards up to {largest:.3g} over 1 − γ = {1.0 - run.gamma:.3g}"
        if total <= 0:
            raise NotEnough("no reward other than 0 was seen, so nothing bounds the targets")
        return total, "the largest return of an episode"
