"""The reward does not depend on what the agent does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.env_play import EnvPlay
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class RewardIgnoresAction(Rule):
    """The reward does not depend on what the agent does.

    ## What it checks
    Pairs of episodes from the same seed, played with different actions to the end: although the rewards vary within an
    episode, they are the same number for number in every pair, and every pair ends at the same step.

    ## Why it matters
    If no action changes the return, every policy is as good as every other, and no algorithm can learn.

    ## Likely causes
    1. The reward is computed from the wrong variable: the market's move instead of the position's, the old state of
       something else. Confirm: print the action and the reward of a few steps; look for the action in the formula.
    2. The action is stored, but what the reward is made of was computed before. Confirm: the order of lines in
       `step()`.
    3. A multiplication by a flag or a share that is always the same. Confirm: print each factor of the reward.

    ## What to try first
    Reset twice with the same seed, do something else the second time, and follow the reward back to the action.

    ## When it is fine
    Environments made to test a value function, where nothing is to be decided.

    ## References
    Jones, *Debugging RL, Without the Agonizing Pain* (probe environments: a reward that depends on the action).
    """

    code: ClassVar[str] = "ENV030"
    name: ClassVar[str] = "reward-ignores-action"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "EnvPlay"
    follows: ClassVar[tuple[str, ...]] = ("ENV031",)

    pairs: int = 8  # episodes played twice, to the end
    steps: int = 100  # compared in all pairs together

    def check(self, evidence: EnvPlay) -> Iterator[Finding]:
        twins = evidence.twins
        if evidence.actions <= 1 or not twins.repeatable:
            raise NotEnough("needs several actions, and an environment that repeats itself under a seed")
        if twins.ended < self.pairs or twins.steps < self.steps:
            raise NotEnough(
                f"{twins.ended} pairs of episodes came to an end, needs {self.pairs} and {self.steps} steps"
            )
        if twins.rewards_differ or twins.ends_differ or not twins.rewards_vary:
            return
        yield self.finding(
            "the reward does not depend on the action",
            seen=f"{twins.pairs} seeds, each played twice with other actions: the same rewards at {twins.steps} steps"
            + ("" if twins.obs_differ else ", and the same observations"),
            expected="another action leads to another reward sooner or later, or to another end of the episode",
            help="follow the reward in step() back to the action: one of its terms must depend on it",
            confidence=0.9,
        )
