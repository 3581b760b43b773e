"""The policy stays uniform: hundreds of updates leave no trace in it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.run import Run, Series
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class EntropyStuckAtMaximum(Rule):
    """The policy stays uniform, however many updates it gets.

    ## What it checks
    Over a long run the entropy of a discrete policy stays within half a per cent of its maximum and shows no trend: in
    the last third of the run it is no further from the maximum than in the middle third, and the policy depends no
    more on the observation. Returns differ between readings and weights are stepped, so there was something to learn
    from.

    ## Why it matters
    A uniform policy is the random policy. Nothing that was computed has reached it.

    ## Likely causes
    1. The entropy bonus outweighs the advantages. Confirm: compare the entropy coefficient with `advantage/std`; set it
       to 0 and see whether `policy/entropy_rel` moves.
    2. The policy loss does not reach the policy: a detached tensor, or its parameters are in no optimizer. Confirm:
       the parameters of the policy in the table `parameters` have gradient and step of 0.
    3. The advantages belong to other rows than the log-probs, and average out. Confirm: `advantage/residual_corr`.
    4. The learning rate is orders of magnitude too small. Confirm: `step/log10_ratio` below −5.

    ## What to try first
    Set the entropy coefficient to 0 for one short run.

    ## When it is fine
    The best policy is uniform (games against an opponent that adapts), or rewards are so rare that there was nothing to
    learn from yet. Where returns hardly ever differ, the rule stays quiet.

    ## References
    Jones, *Debugging RL, Without the Agonizing Pain* (relative policy entropy that stays near 1).
    """

    code: ClassVar[str] = "ENT002"
    name: ClassVar[str] = "entropy-stuck-at-maximum"
    severity: ClassVar[Severity] = "warning"
    needs: ClassVar[tuple[str, ...]] = ("policy/entropy_rel", "policy/entropy_max", "episode/return_rise")
    follows: ClassVar[tuple[str, ...]] = (
        "ADV002",
        "ADV004",
        "GRA002",
        "GRA003",
        "GRA005",
        "GRA009",
        "NET003",
        "NET004",
        "NET005",
        "NRM003",
        "OPT001",
        "OPT003",
        "OPT007",
        "POL004",
        "POL007",
        "POL008",
        "POL010",
    )
    aftermath: ClassVar[bool] = True

    ceiling: float = 0.995  # share of the maximum entropy
    updates: int = 400  # shorter runs may simply be slow
    readings: int = 40  # of the entropy
    growth: float = 1.5  # from the middle to the last third of the run; the slowest learner grows by more
    risen: float = 3.0  # standard errors of the return above its start
    varied: float = 0.2  # share of the return readings that must differ from the commonest one

    def check(self, evidence: Run) -> Iterator[Finding]:
        entropy = evidence["policy/entropy_rel"].finite
        if len(entropy) < self.readings or entropy.updates < self.updates:
            raise NotEnough(f"{entropy.updates} updates, needs {self.updates}")
        if entropy.tail(0.9).median() < self.ceiling or entropy.tail(0.9).quantile(0.1) < 2 * self.ceiling - 1:
            return
        distance = Series(entropy.name, entropy.update, entropy.env_step, 1.0 - entropy.value)
        if self._grows(distance) or self._grows(evidence["policy/obs_dependence"].finite):
            return
        if evidence["episode/return_rise"].tail(0.3).median() > self.risen or not self._varied(evidence):
            return
        moved = [each.finite for each in evidence.each("step/norm")]
        if moved and not any(len(each) and each.max() > 0 for each in moved):
            return
        yield self.finding(
            "the policy is still uniform",
            where=entropy.where(),
            seen=f"{entropy.tail(0.9).median():.4f} of the maximum entropy over {entropy.updates} updates, "
            f"{entropy.tail(0.3).median():.4f} in the last third; the return did not rise",
            expected=f"below {self.ceiling} by now, or on the way there",
            help="set the entropy coefficient to 0 for a short run; if nothing changes, follow the policy loss to the "
            "parameters of the policy",
            confidence=0.7,
        )

    def _grows(self, series: Series) -> bool:
        rounding = 1e-6
        return bool(series.between(2 / 3, 1).median() > self.growth * series.between(1 / 3, 2 / 3).median() + rounding)

    def _varied(self, run: Run) -> bool:
        for name in ("episode/return_mean", "reward/per_trajectory", "reward/mean"):
            returns = run[name].finite
            if len(returns) >= 8:
                counts = np.unique(returns.value, return_counts=True)[1]
                return bool(1.0 - counts.max() / len(returns) >= self.varied)
        return False
