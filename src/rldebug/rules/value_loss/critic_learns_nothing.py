"""The value function explains nothing of its targets, however long it is trained."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from rldebug.evidence.run import Run
from rldebug.evidence.together import pooled_correlation, together
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class CriticLearnsNothing(Rule):
    """The value function explains nothing of its targets.

    ## What it checks
    Residual variance, Var(target − value) / Var(target), stays near 1 through the whole run, and one of two things
    holds. Either the mean prediction has not moved towards the targets at all, though the two are far apart: the critic
    is not trained. Or it has found the mean and nothing else: its correlation with the targets, pooled over all rows,
    is near 0. That is a note, unless the run is long, the return rose, and the policy tells observations apart.

    ## Why it matters
    Advantages are then as noisy as plain returns, and bootstrapped targets carry no information backwards.

    ## Likely causes
    1. The value loss does not reach the optimizer: left out of the sum, detached, or the critic's parameters are not in
       any optimizer. Confirm: the tables of gradients and parameter owners; `loss/value` stays where it began.
    2. Observations, predictions and targets of a batch are not in the same order. Confirm: compute the value loss on
       the unshuffled rollout and compare; `advantage/residual_corr`.
    3. Rewards are not what they are thought to be. Confirm: `reward/mean` and `histogram/reward`.
    4. The learning rate of the critic is too small by orders of magnitude. Confirm: `step/log10_ratio` below −5.

    ## What to try first
    Fit the critic to one fixed batch for 200 steps: the residual variance must fall well below 1.

    ## When it is fine
    Returns that the observation does not foretell, by pure chance or for want of a clock, leave a critic nothing but
    their mean. Short runs are not judged.

    ## References
    Jones, *Debugging RL, Without the Agonizing Pain* (residual variance).
    """

    code: ClassVar[str] = "VAL001"
    name: ClassVar[str] = "critic-learns-nothing"
    severity: ClassVar[Severity] = "warning"
    needs: ClassVar[tuple[str, ...]] = ("value/residual_var", "value/std", "target/mean", "target/std")
    follows: ClassVar[tuple[str, ...]] = (
        "VAL005",
        "VAL008",
        "ADV004",
        "GRA002",
        "GRA003",
        "GRA009",
        "OPT001",
        "OPT003",
        "OPT007",
        "NET005",
    )
    aftermath: ClassVar[bool] = True

    updates: int = 500  # learner steps; a critic may well need as many
    long: int = 3000  # learner steps after which finding the mean alone is no longer a slow start
    readings: int = 30  # fewer cannot show that it lasts
    unexplained: float = 0.9  # residual variance that counts as nothing learned
    near: float = 1.2  # residual variance above which predictions are wrong rather than empty
    still: float = 0.02  # share of the gap to the targets that the mean prediction has moved
    none: float = 0.2  # correlation that counts as none; twice as much in any one part of the run
    rows: int = 2000  # pooled, for a correlation of 0 to mean anything
    rise: float = 3.0  # standard errors by which the return must have risen

    def check(self, evidence: Run) -> Iterator[Finding]:
        names = ("value/residual_var", "value/mean", "value/std", "target/mean", "target/std")
        residual, value, spread, target, target_spread = together(evidence, *names)
        if len(residual) < self.readings or residual.updates < self.updates:
            raise NotEnough(
                f"{len(residual)} readings over {residual.updates} updates, needs {self.readings} over {self.updates}"
            )
        parts = [(0.2, 0.4), (0.4, 0.6), (0.6, 0.8), (0.8, 1.0)]
        if min(residual.between(*part).median() for part in parts) < self.unexplained:
            return
        late = target.tail(0.25).median()
        gap = abs(late - value.tail(0.25).median())
        moved = abs(value.tail(0.25).median() - value.head(0.05).median())
        width = target_spread.tail(0.25).median()
        if width <= 1e-5 * abs(late):
            return
        where = replace(evidence.call("update"), update=int(residual.update[-1]), env_step=int(residual.env_step[-1]))
        first, last = residual.head(0.05).median(), residual.tail(0.25).median()
        explained = f"residual variance {first:.2f} at the start, {last:.2f} late"
        # What moves by less than the spread of its own first predictions is as good as untouched.
        if gap > width and moved < self.still * gap and moved <= 0.5 * spread.head(0.05).median():
            yield self.finding(
                "the value function is not being trained",
                where=where,
                seen=f"{explained}; mean value {value.head(0.05).median():.4g} → {value.tail(0.25).median():.4g} over "
                f"{residual.updates} updates, mean target {late:.4g}",
                expected=f"residual variance below {self.unexplained}, and mean values on their way to the targets",
                help="follow the value loss to optimizer.step(): is it in the sum, attached, and are the critic's "
                "parameters in the optimizer?",
                confidence=0.8,
            )
        elif gap < 0.75 * width and residual.tail(0.5).median() < self.near and self._uncorrelated(evidence, parts):
            yield self.finding(
                "the value function finds the mean of its targets and nothing else",
                where=where,
                seen=f"{explained}; correlation of value and target {self._pooled(evidence):+.2f} over all rows",
                expected="residual variance that falls, and a correlation that rises towards 1",
                help="check that observations, predictions and targets of a batch are rows of the same steps, in the "
                "same order",
                confidence=0.6,
                severity="warning" if self._should_know_better(evidence) else "note",
            )

    def _uncorrelated(self, run: Run, parts: list[tuple[float, float]]) -> bool:
        corr, rows = (each.between(0.2, 1.0) for each in together(run, "value/target_corr", "batch/rows"))
        if rows.value.sum() < self.rows or abs(self._pooled(run)) >= self.none:
            return False
        each = [pooled_correlation(corr.between(*part).value, rows.between(*part).value)[0] for part in parts]
        return max(abs(r) for r in each) < 2 * self.none

    def _pooled(self, run: Run) -> float:
        corr, rows = (each.between(0.2, 1.0) for each in together(run, "value/target_corr", "batch/rows"))
        return pooled_correlation(corr.value, rows.value)[0]

    def _should_know_better(self, run: Run) -> bool:
        """After a long run in which the return rose and the policy came to differ between observations: then they say
        something of returns, and there was time to learn it."""
        rise, dependence = run["episode/return_rise"].finite, run["policy/obs_dependence"].finite
        ended = run["episode/terminated"].finite
        return bool(
            run["value/residual_var"].updates >= self.long
            and abs(self._pooled(run)) < 0.5 * self.none
            and len(rise)
            and rise.last > self.rise
            and len(dependence)
            and dependence.tail(0.25).median() > 0.1
            and np.sum(ended.value) > 0
        )
