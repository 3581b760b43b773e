"""No reward other than zero was ever given."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.run import Run
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class RewardAlwaysZero(Rule):
    """Every reward of the run was exactly zero.

    ## What it checks
    The returns of all episodes, the reward summed over all steps and, where rollouts are handed over, every reward in
    them are exactly 0, over many episodes.

    ## Why it matters
    Nothing can be learned from a reward that never differs: every action looks as good as every other.

    ## Likely causes
    1. The reward is sparse and the agent never came upon it. Confirm: run the random policy for longer, or place the
       agent near the goal; `episode/return_max` must rise above 0 now and then.
    2. A wrapper or the environment returns the wrong quantity, or rounds the reward away (integer division, a clip
       to an integer, a `float` cast of a flag). Confirm: print the reward that `step()` returns.
    3. Reward shaping that cancels the reward. Confirm: switch the shaping off and look at `reward/mean`.

    ## What to try first
    Print the rewards of one episode played by hand or by a scripted policy that reaches the goal.

    ## When it is fine
    Early in a sparse-reward task, or where the agent lives on an intrinsic reward that is not handed over.

    ## References
    Jones, *Debugging RL, Without the Agonizing Pain* (reward distribution).
    """

    code: ClassVar[str] = "ENV004"
    name: ClassVar[str] = "reward-always-zero"
    severity: ClassVar[Severity] = "note"
    needs: ClassVar[tuple[str, ...]] = ("episode/count", "episode/return_min", "episode/return_max")

    episodes: int = 20  # fewer say nothing about a sparse reward

    def check(self, evidence: Run) -> Iterator[Finding]:
        ended = int(evidence["episode/count"].finite.value.sum())
        if ended < self.episodes:
            raise NotEnough(f"{ended} episodes, needs {self.episodes}")
        totals = ("episode/return_min", "episode/return_max", "episode/reward_sum", "reward/min", "reward/max")
        if any(np.any(evidence[name].value != 0.0) for name in totals):
            return
        returns = evidence["episode/return_max"]
        yield self.finding(
            "no reward other than zero was ever given",
            where=returns.where(-1),
            seen=f"a return of exactly 0 in all of {ended} episodes, over {evidence.env_steps} env steps",
            expected="rewards that differ between some of the steps",
            help="print the reward that env.step() returns over one episode that reaches the goal",
            confidence=0.95,
        )
