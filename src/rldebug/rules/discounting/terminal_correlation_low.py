"""The value of an episode's last state knows nothing of its final reward."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from rldebug.evidence.run import Run
from rldebug.evidence.together import pooled_correlation, together
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class TerminalCorrelationLow(Rule):
    """The last state's value knows nothing of the final reward.

    ## What it checks
    A contradiction. The critic fits its targets so closely that, if the targets of terminal steps were their rewards,
    at least half of the final rewards' variance would be explained. Yet over many terminations the value of the last
    state does not follow the final reward at all. So the targets of terminal steps are not those rewards.

    ## Why it matters
    What an episode ends with is often all that matters in it, and here it is lost.

    ## Likely causes
    1. The mask of episode ends is applied to the reward as well: `(1 − done) · (r + γ V')`. Confirm: print reward and
       target of a terminal step; they must be equal.
    2. The last step is not stored, or its reward is overwritten by the reset. Confirm: count terminal rows in a batch.
    3. Returns near termination are shifted by one step. Confirm: rewards `[0, 0, 1]` must give returns `[γ², γ, 1]`.

    ## What to try first
    Print reward and target of a terminal step; they must be equal.

    ## When it is fine
    Final rewards that cannot be foreseen: the critic then does not fit its targets so closely, and the rule stays
    quiet. Final rewards that are all alike have no correlation and are not judged. Rewards that are scaled down on the
    way to the targets are recognised by their ranges, which then go together.

    ## References
    Jones, *Debugging RL, Without the Agonizing Pain* (terminal correlation). thu-ml/tianshou issue 135.
    """

    code: ClassVar[str] = "DIS002"
    name: ClassVar[str] = "terminal-correlation-low"
    severity: ClassVar[Severity] = "warning"
    needs: ClassVar[tuple[str, ...]] = (
        "value/terminal_corr",
        "value/terminal_slope",
        "value/final_reward_std",
        "rollout/terminated",
        "value/std",
        "target/std",
    )
    follows: ClassVar[tuple[str, ...]] = ("ADV004", "VAL002", "VAL005", "VAL008")
    aftermath: ClassVar[bool] = True

    terminals: int = 50  # terminations late in the run, pooled
    none: float = 0.5  # correlation, with its error added, above which they go together
    slope: float = 0.1  # value per unit of final reward that counts as none
    room: float = 0.25  # error variance over the final rewards' share in the targets' variance
    scaled: float = 0.6  # correlation of the ranges of rewards and targets, batch by batch
    updates: int = 100  # learner steps before a critic can be expected to know anything

    def check(self, evidence: Run) -> Iterator[Finding]:
        names = ("value/terminal_corr", "value/terminal_count", "value/terminal_slope", "value/final_reward_std")
        corr, count, slope, spread = (each.tail(0.5) for each in together(evidence, *names))
        if count.value.sum() < self.terminals or count.updates < self.updates:
            raise NotEnough(
                f"{int(count.value.sum())} terminations with rewards that differ over {count.updates} updates, "
                f"needs {self.terminals} over {self.updates}"
            )
        pooled, error = pooled_correlation(corr.value, count.value)
        rises = float(np.average(slope.value, weights=count.value))
        if abs(pooled) + 2 * error > self.none or abs(rises) > self.slope:
            return
        # Terminal rows are this share of all rows, and their targets would be the final rewards.
        ended = evidence["rollout/terminated"].finite.tail(0.5).mean()
        stake = ended * float(np.average(spread.value**2, weights=count.value))
        unexplained = self._error_variance(evidence)
        if not unexplained < self.room * stake or self._scaled(evidence):
            return
        yield self.finding(
            "the value of the last state does not follow the final reward",
            where=replace(evidence.call("rollout"), update=int(corr.update[0]), env_step=int(corr.env_step[0])),
            seen=f"correlation {pooled:+.2f}, slope {rises:+.3f} over {int(count.value.sum())} terminations, though "
            f"the critic fits its targets to a variance of {unexplained:.2g} and final rewards alone would make "
            f"{stake:.2g} of it",
            expected="a correlation that rises to nearly 1, if the target of a terminal step is its reward",
            help="print reward and target of a terminal step; they must be equal",
            confidence=0.85,
        )

    def _scaled(self, run: Run) -> bool:
        """Targets reach as far as rewards do, batch by batch, on a scale of their own: then nothing is missing from
        them, and the variances cannot be compared."""
        names = ("reward/min", "reward/max", "target/min", "target/max")
        low, high, least, most = (each.tail(0.5).value for each in together(run, *names))
        rewards, targets = high - low, most - least
        if len(rewards) < 6 or np.ptp(rewards) == 0 or np.ptp(targets) == 0:
            return False
        return bool(np.corrcoef(rewards, targets)[0, 1] > self.scaled)

    def _error_variance(self, run: Run) -> float:
        """Var(target − value), late, of batches not learned from yet where that is known; else of the worst ones."""
        fresh = together(run, "value/std", "target/std", "batch/staleness_mean", fresh=True)[0]
        value, target = together(run, "value/std", "target/std", fresh=len(fresh.tail(0.5)) >= 5)
        value, target = value.tail(0.5), target.tail(0.5)
        if not len(value):
            return math.inf
        share = {int(line.update): line.numbers.get("value/residual_var", math.nan) for line in run.readings}
        known = np.array([share[int(update)] for update in value.update])
        # Constant targets have no residual variance; the two spreads together bound the error.
        errors = np.where(np.isfinite(known), known * target.value**2, (value.value + target.value) ** 2)
        return float(np.median(errors) if len(fresh.tail(0.5)) >= 5 else np.quantile(errors, 0.9))
