"""The rewards handed over are not the environment's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from rldebug.evidence.run import Run
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class RewardHandedOverDiffers(Rule):
    """The rewards the agent learns from are not the environment's.

    ## What it checks
    The reward summed over a rollout, as handed over, against the reward the environment gave in the very same number of
    steps since the reading before. A constant factor between the two is named; a negative one is a warning.

    ## Why it matters
    Scaling rewards is common and useful, so this is only said, not blamed. A factor nobody meant to be there, or one
    with the wrong sign, decides what the agent learns.

    ## Likely causes
    1. Rewards are scaled, clipped, normalised or shaped on purpose on their way into the buffer. Confirm: the factor in
       the finding is the one in your code.
    2. A sign was turned: a cost was taken for a reward, or the other way round. Confirm: print the reward from `step()`
       beside the one that is stored.
    3. Something else is stored in the reward's place. Confirm: compare `reward/min` and `reward/max` with what the
       environment can give.

    ## What to try first
    Print the reward that `step()` returned and the one that went into the buffer, side by side.

    ## When it is fine
    Whenever you did it yourself: reward scaling, clipping to ±1, running normalisation, intrinsic rewards. Costs that
    are to be minimised may carry a minus on purpose.

    ## References
    Schulman, *Nuts and Bolts of Deep RL* (scale rewards, do not shift them). Jones, *Debugging RL, Without the
    Agonizing Pain* (reward scale).
    """

    code: ClassVar[str] = "ENV009"
    name: ClassVar[str] = "reward-handed-over-differs"
    severity: ClassVar[Severity] = "note"
    needs: ClassVar[tuple[str, ...]] = ("rollout/reward_sum", "rollout/steps", "episode/reward_sum", "episode/steps")

    pairs: int = 3  # rollouts that can be compared step for step
    tolerance: float = 1e-3  # relative; sums of float32 rewards agree far better
    differing: float = 0.9  # share of the rollouts that differ, where no one factor explains it

    def check(self, evidence: Run) -> Iterator[Finding]:
        found = [
            (reading.numbers["episode/reward_sum"], reading.numbers["rollout/reward_sum"], reading)
            for reading in evidence.readings
            if reading.numbers.get("rollout/steps") == reading.numbers.get("episode/steps", -1.0)
            and all(np.isfinite(reading.numbers.get(each, np.nan)) for each in self.needs[:3])
        ]
        pairs = [(given, stored) for given, stored, _ in found if given != 0.0]
        if len(pairs) < self.pairs:
            raise NotEnough(f"{len(pairs)} rollouts over the steps the environment counted, needs {self.pairs}")
        given, stored = (np.array(each) for each in zip(*pairs, strict=True))
        apart = np.abs(stored - given) > self.tolerance * np.abs(given)
        if not apart.any():
            return
        factor = float(np.median(stored / given))
        constant = bool(np.all(np.abs(stored - factor * given) <= self.tolerance * np.abs(factor * given)))
        where = replace(evidence.call("rollout"), update=found[0][2].update, env_step=found[0][2].env_step)
        seen = (
            f"over the {len(pairs)} rollouts that can be compared the environment gave {given.sum():.6g} in total, "
            f"dbg.rollout got {stored.sum():.6g}"
        )
        if constant and factor < 0:
            yield self.finding(
                "the rewards handed over have the opposite sign of the environment's",
                where=where,
                seen=f"{seen}: {factor:.4g} times as much in each of them",
                expected="rewards with the environment's sign: the agent maximises what it is given",
                help="remove the minus between env.step() and the buffer, unless the environment returns a cost",
                confidence=0.85,
                severity="warning",
            )
        elif constant:
            yield self.finding(
                f"the rewards handed over are {factor:.4g} times the environment's",
                where=where,
                seen=f"{seen}: {factor:.4g} times as much in each of them",
                expected="the environment's rewards, or a factor that you chose",
                help="nothing, if you scale rewards; else look for the factor between env.step() and the buffer",
                confidence=0.9,
            )
        elif apart.mean() >= self.differing and len(pairs) > self.pairs:
            yield self.finding(
                "the rewards handed over are not the environment's, and no one factor explains it",
                where=where,
                seen=f"{seen}; the ratio runs from {np.min(stored / given):.4g} to {np.max(stored / given):.4g}",
                expected="the environment's rewards, or rewards that you clip, normalise or shape",
                help="nothing, if you transform rewards; else compare env.step()'s reward with the stored one",
                confidence=0.7,
            )
