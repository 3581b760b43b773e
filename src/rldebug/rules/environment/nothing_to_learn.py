"""A learner that has tried everything is no better than chance."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.env_play import EnvPlay
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class NothingToLearn(Rule):
    """A learner that has tried everything is no better than chance.

    ## What it checks
    The environment is so small that every state and action was tried many times; a tabular learner then plays its
    best, and its returns cannot be told from those of the random and the constant players (permutation test on ranks).

    ## Why it matters
    If all behaviours have the same return, a flat learning curve says nothing about the algorithm.

    ## Likely causes
    1. The reward does not depend on the action, or noise covers what does. Confirm: reset twice with the same seed,
       act differently, and compare the rewards.
    2. What decides the reward is not in the observation. Confirm: compare what the reward is computed from with it.

    ## What to try first
    Play it by hand, with the best you can think of, and compare the return with the random one.

    ## When it is fine
    Environments made to test a value function, where nothing is to be decided.

    ## References
    Jones, *Debugging RL, Without the Agonizing Pain* (probe agents).
    """

    code: ClassVar[str] = "ENV042"
    name: ClassVar[str] = "nothing-to-learn"
    severity: ClassVar[Severity] = "note"
    reads: ClassVar[str] = "EnvPlay"
    follows: ClassVar[tuple[str, ...]] = ("ENV030", "ENV031", "ENV032")

    episodes: int = 30  # of the learner, and of the random player
    unseen: float = 0.002  # chance that one more step meets something not yet tried
    alike: float = 0.01  # p-value below which players differ

    def check(self, evidence: EnvPlay) -> Iterator[Finding]:
        learner, drawn = evidence.play("tabular"), evidence.play("random")
        if learner is None or drawn is None or min(learner.episodes, drawn.episodes) < self.episodes:
            raise NotEnough(f"needs {self.episodes} episodes of the tabular learner and of the random player")
        if not evidence.unseen <= self.unseen:
            raise NotEnough("not all states and actions have been tried")
        returns = {value for each in evidence.plays for value in each.returns}
        if len(returns) == 1 or evidence.actions <= 1 or not evidence.alike > self.alike:
            return
        if learner.interval[0] > drawn.mean or drawn.interval[1] < learner.mean:
            return
        yield self.finding(
            "a learner that has tried everything is no better than chance",
            seen=f"tabular {learner.mean:.4g} (95 % {learner.interval[0]:.4g} – {learner.interval[1]:.4g}), random "
            f"{drawn.mean:.4g} (95 % {drawn.interval[0]:.4g} – {drawn.interval[1]:.4g}); p = {evidence.alike:.2f} that "
            f"all {len(evidence.plays)} players are equal",
            expected="some behaviour is better than another",
            help="follow the reward back to the action, and what it is made of to the observation",
            confidence=0.7,
        )
