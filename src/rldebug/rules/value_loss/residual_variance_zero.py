"""The value function explains its targets completely, and too early."""

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
class ResidualVarianceZero(Rule):
    """Value targets are explained completely, and too early.

    ## What it checks
    Two shapes of a residual variance, Var(target − value) / Var(target), that is 0. From the first update of an
    untrained critic on: the targets are the predictions themselves. Or: it falls to nearly 0 in the first half of the
    run together with the entropy of the policy, while the return has not risen.

    ## Why it matters
    In the first case there is nothing to learn from: the rewards never reach the value function. In the second the
    policy does one thing over and over, and the critic has learned that one thing by heart.

    ## Likely causes
    1. Returns are built as advantage + value before the advantages are filled in, or from a buffer that is still zero.
       Confirm: on the first rollout, print `(returns - values).abs().max()` before the first update; it must not be 0.
    2. The policy has collapsed. Confirm: `policy/entropy_rel` near 0 and `episode/length_std` near 0.
    3. A few episodes have vastly larger returns than the rest, and the critic has learned to spot them. Confirm:
       `histogram/target` has all its mass in two far bins.

    ## What to try first
    Print `(returns - values).abs().max()` for the first rollout.

    ## When it is fine
    A deterministic task that is solved: then the return has risen, and the rule stays quiet. Targets that are constant
    have no residual variance and are not judged.

    ## References
    Jones, *Debugging RL, Without the Agonizing Pain* (residual variance). vwxyzjn/cleanrl PR 337.
    """

    code: ClassVar[str] = "VAL002"
    name: ClassVar[str] = "residual-variance-zero"
    severity: ClassVar[Severity] = "warning"
    needs: ClassVar[tuple[str, ...]] = ("value/residual_var", "value/mean", "target/mean", "target/std")
    follows: ClassVar[tuple[str, ...]] = ("ADV002", "ENT001", "ENT005")
    aftermath: ClassVar[bool] = True

    exact: float = 1e-8  # residual variance that only rounding leaves
    floor: float = 0.01  # residual variance that counts as explained completely
    entropy: float = 0.05  # share of the maximum that counts as collapsed
    within: float = 0.5  # share of the run in which that is early
    readings: int = 20  # fewer cannot show that it lasts
    rise: float = 2.0  # standard errors by which a risen return excuses the rest

    def check(self, evidence: Run) -> Iterator[Finding]:
        names = ("value/residual_var", "value/mean", "target/mean", "target/std")
        residual, value, target, spread = together(evidence, *names)
        if len(residual) < 3:
            raise NotEnough(f"{len(residual)} readings of the residual variance, needs 3")
        where = replace(evidence.call("update"), update=int(residual.update[0]), env_step=int(residual.env_step[0]))
        same = (residual.value < self.exact) & (np.abs(value.value - target.value) < 1e-4 * spread.value)
        if residual.update[0] <= 2 and same[:3].all() and same.mean() > 0.9:
            yield self.finding(
                "the value targets are the predictions themselves",
                where=where,
                seen=f"residual variance {residual.value[0]:.1e} at update {residual.update[0]}, "
                f"below {self.exact:g} in {same.sum()} of {len(same)} readings; "
                f"mean value {value.first:.4g}, mean target {target.first:.4g}",
                expected="about 1 for a critic that has not been trained yet",
                help="build the returns after the advantages are filled in, and check that rewards enter them",
                confidence=0.95,
            )
            return
        entropy = evidence["policy/entropy_rel"].finite
        if len(residual) < self.readings or len(entropy) < self.readings:
            raise NotEnough(f"{min(len(residual), len(entropy))} readings of residual variance and entropy")
        smooth, random = residual.ema(half_life=3), entropy.ema(half_life=3)
        low, collapsed = smooth.at(smooth.value < self.floor), random.at(random.value < self.entropy)
        if low is None or collapsed is None or smooth.first < 10 * self.floor or random.first < 4 * self.entropy:
            return
        deadline = self.within * residual.updates
        early = smooth.update[low] < deadline and random.update[collapsed] < deadline
        lasting = smooth.tail(0.3).max() < self.floor and random.tail(0.3).max() < self.entropy
        if not early or not lasting or self._rose(evidence):
            return
        yield self.finding(
            "the value function explains everything because the policy does one thing",
            where=replace(where, update=int(smooth.update[low]), env_step=int(smooth.env_step[low])),
            seen=f"residual variance {smooth.first:.2f} → {smooth.last:.4f} and relative entropy {random.first:.2f} → "
            f"{random.last:.3f}, both before update {int(deadline)}; the return did not rise",
            expected=f"residual variance above {self.floor} for as long as the return does not rise",
            help="keep the policy random for longer: check the entropy term and its weight beside the rewards",
            confidence=0.7,
        )

    def _rose(self, run: Run) -> bool:
        """Whether the return rose. The benefit of the doubt goes to a run that does not show its returns, whose returns
        are all alike, or whose episodes changed in length at an equal return: sooner may be better."""
        rise, returns = run["episode/return_rise"].finite, run["episode/return_mean"].finite
        lengths = run["episode/length_mean"].finite
        if not len(rise) or rise.max() > self.rise or (len(returns) and np.ptp(returns.value) == 0):
            return True
        start, end = lengths.head(0.05).mean(), lengths.tail(0.25).mean()
        return bool(rise.last > -self.rise and abs(end - start) > 0.2 * start)
