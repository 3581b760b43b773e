"""Value targets are larger than any sum of discounted rewards can be."""

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
class TargetOutsideRewardRange(Rule):
    """Value targets are larger than discounted rewards can sum to.

    ## What it checks
    With discount γ no return exceeds the largest reward over 1 − γ. Late in the run the largest targets do, by a wide
    margin and in nearly every batch, and they are still growing. At the start they were on the scale of the rewards.

    ## Why it matters
    Targets that no policy could earn make every advantage built on them wrong.

    ## Likely causes
    1. Returns are not discounted, or with another γ than the one meant. Confirm: on rewards `[1, 1, 1]` the first
       return must be 1 + γ + γ².
    2. An n-step target bootstraps with γ instead of γⁿ. Confirm: print the weight of the next value.
    3. Values are overestimated: the maximum over noisy values feeds on itself. Confirm: `value/mean` rises while
       `episode/return_mean` does not; use a target network, or two critics.

    ## What to try first
    Call your returns on ten rewards of 1 and compare with (1 − γ¹⁰) / (1 − γ).

    ## When it is fine
    Targets that hold an entropy bonus (soft actor-critic) are not judged, nor are those that were off the rewards'
    scale from the start, as with rewards normalised between rollout and target.

    ## References
    van Hasselt et al. 2016, *Deep Reinforcement Learning with Double Q-learning*. younggyoseo/FastTD3 issue 6.
    """

    code: ClassVar[str] = "DIS004"
    name: ClassVar[str] = "target-outside-reward-range"
    severity: ClassVar[Severity] = "warning"
    aim: ClassVar[str] = "formula"
    needs: ClassVar[tuple[str, ...]] = ("target/min", "target/max")
    follows: ClassVar[tuple[str, ...]] = ("DIS003", "VAL003", "VAL004", "VAL005", "OPT004", "TGT002", "TGT003")
    aftermath: ClassVar[bool] = True

    readings: int = 20  # fewer cannot show that it lasts
    margin: float = 2.5  # times the largest reward over 1 − γ
    share: float = 0.8  # of late readings that must exceed it
    growth: float = 1.3  # times the middle of the run
    start: float = 1.5  # times the scale of the rewards, above which targets never were on it

    def check(self, evidence: Run) -> Iterator[Finding]:
        names = ("target/min", "target/max", "value/min", "value/max")
        low, high, least, most = together(evidence, *names)
        gamma = evidence.gamma
        if gamma is None or not 0 < gamma < 1:
            raise NotEnough("the discount is not known: pass gamma= to rldebug.watch(...)")
        if len(low) < self.readings:
            raise NotEnough(f"{len(low)} readings of the targets, needs {self.readings}")
        actor_critic = "loss/policy" in evidence or {"policy", "critic"} <= set(evidence.meta.get("modules", {}))
        if "replay/reward_max" in evidence and actor_critic:
            raise NotEnough("the targets of an off-policy actor-critic may hold an entropy bonus")
        largest = _largest(evidence, "reward/min", "reward/max", "replay/reward_min", "replay/reward_max")
        if largest <= 0:
            raise NotEnough("no reward other than 0 was seen")
        bound = largest / (1.0 - gamma)
        size = Series("target", low.update, low.env_step, np.maximum(np.abs(low.value), np.abs(high.value)))
        late, middle = size.tail(0.2), size.between(0.3, 0.6).median()
        if float(np.mean(late.value > self.margin * bound)) < self.share or late.median() < self.growth * middle:
            return
        # A sum over the steps of the first episodes, plus what is bootstrapped: more is another scale of rewards.
        steps = 1.0 if "replay/reward_max" in evidence else self._first_steps(evidence)
        ahead = max(abs(least.first), abs(most.first))
        if size.first > self.start * (largest * steps + ahead):
            return
        yield self.finding(
            "targets exceed any sum of discounted rewards",
            where=replace(evidence.call("update"), update=int(late.update[0]), env_step=int(late.env_step[0])),
            seen=f"largest target {size.first:.3g} at the start, {middle:.3g} halfway, {late.median():.3g} at the end; "
            f"rewards up to {largest:.3g}",
            expected=f"at most {largest:.3g} / (1 − {gamma:g}) = {bound:.3g}",
            help="call your returns on ten rewards of 1 and compare with (1 − γ¹⁰) / (1 − γ)",
            confidence=0.75,
        )

    def _first_steps(self, run: Run) -> float:
        for name in ("episode/length_max", "rollout/steps"):
            if len(run[name].finite):
                return float(run[name].finite.value[:3].max())
        return 1.0


def _largest(run: Run, *names: str) -> float:
    return max((float(np.abs(run[name].finite.value).max()) for name in names if len(run[name].finite)), default=0.0)
