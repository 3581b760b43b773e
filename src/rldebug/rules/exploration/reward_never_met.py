"""No player ever met a reward that differs from the rest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.env_play import EnvPlay
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class RewardNeverMet(Rule):
    """No player ever met a reward that differs from the rest.

    ## What it checks
    Every reward of every player was one and the same number, and it cannot tell episodes apart: it is 0, or all
    episodes were equally long. A warning where every reachable state and action was tried, or where the cheat met none
    either.

    ## Why it matters
    Learning starts with the first reward that differs. Until chance finds it, every action looks as good as any other.

    ## Likely causes
    1. The reward is sparse, and none of these players came upon it. Confirm: play by hand, or start near the goal.
    2. The reward is lost on its way: an integer division, a clip, the wrong variable. Confirm: print it inside
       `step()` in the state that should give it.
    3. The goal cannot be reached: an exact comparison of floats, a wall around it. Confirm: put the agent beside the
       goal.

    ## What to try first
    Put the agent one step before the goal and print the reward.

    ## When it is fine
    Hard exploration by design. Use demonstrations, shaping, a curriculum, or a method with an exploration bonus.

    ## References
    Ng et al., *Policy Invariance under Reward Transformations*. Ecoffet et al., *First Return, Then Explore*.
    """

    code: ClassVar[str] = "EXP005"
    name: ClassVar[str] = "reward-never-met"
    severity: ClassVar[Severity] = "note"
    reads: ClassVar[str] = "EnvPlay"
    follows: ClassVar[tuple[str, ...]] = ("ENV031", "ENV037")

    steps: int = 1000  # of all players
    unseen: float = 0.001  # chance that one more step meets something not yet tried

    def check(self, evidence: EnvPlay) -> Iterator[Finding]:
        rewards = evidence.rewards
        if rewards.steps < self.steps:
            raise NotEnough(f"{rewards.steps} steps, needs {self.steps}")
        if rewards.distinct > 1 or (rewards.low != 0 and len(set(evidence.lengths)) > 1):
            return
        knows = evidence.play("cheat")
        all_tried = evidence.unseen <= self.unseen
        certain = all_tried or (knows is not None and knows.episodes > 0)
        yield self.finding(
            f"no player met any reward but {rewards.low:.4g}",
            seen=f"{rewards.steps} steps, {evidence.episodes} episodes, {len(evidence.plays)} players: every reward "
            f"was {rewards.low:.4g}" + ("; every state and action that can be reached was tried" if all_tried else ""),
            expected="a reward that differs, at least now and then",
            help="put the agent one step before the goal and print the reward"
            if certain
            else "start nearer to the goal, shape the reward, or use a method that explores",
            confidence=0.85 if certain else 0.8,
            severity="warning" if certain else "note",
        )
