"""No action changes what is seen, the reward or the end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.env_play import EnvPlay
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ActionChangesNothing(Rule):
    """No action changes what is seen, the reward or the end.

    ## What it checks
    Pairs of episodes from the same seed, played with different actions: observations, rewards and ends are the same in
    every pair.

    ## Why it matters
    An environment that does not listen cannot be learned: what happens is a film, and the agent watches it.

    ## Likely causes
    1. `step()` never uses its `action`, or uses one that was stored in `reset()`. Confirm: look for the name in
       `step()`.
    2. The action is rounded or clipped away: an integer division, a clip to a range of no width. Confirm: print what
       arrives in the simulator beside what was sent.
    3. A wrapper hands on another action than it was given. Confirm: `env.unwrapped.step(action)` does change
       something.

    ## What to try first
    Print the action in the innermost function that should apply it.

    ## When it is fine
    Environments made to test a value function, where nothing is to be decided. Give those a single action.

    ## References
    Farama Foundation, *Gymnasium documentation* (create a custom environment).
    """

    code: ClassVar[str] = "ENV031"
    name: ClassVar[str] = "action-changes-nothing"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "EnvPlay"

    pairs: int = 8  # episodes played twice
    steps: int = 8  # compared in all pairs together

    def check(self, evidence: EnvPlay) -> Iterator[Finding]:
        twins = evidence.twins
        if evidence.actions <= 1 or not twins.repeatable:
            raise NotEnough("needs several actions, and an environment that repeats itself under a seed")
        if twins.pairs < self.pairs or twins.steps < self.steps:
            raise NotEnough(f"{twins.pairs} pairs of episodes, needs {self.pairs}")
        # An intro in which nobody can act yet may last longer than what was compared.
        if twins.obs_differ or twins.rewards_differ or twins.ends_differ or (not twins.ended and twins.steps < 500):
            return
        yield self.finding(
            "no action changes anything",
            seen=f"{twins.pairs} seeds, each played twice with different actions: the same observations, rewards "
            f"and ends at all {twins.steps} steps",
            expected="another action leads to another observation, reward or end",
            help="look for the action in step(): it is not used, or rounded away before it is",
            confidence=0.97 if twins.ended else 0.85,
        )
