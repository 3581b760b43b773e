"""What is seen does not depend on what is done, though the reward does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.env_play import EnvPlay
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ObservationIgnoresAction(Rule):
    """What is seen does not depend on what is done, though the reward does.

    ## What it checks
    Pairs of episodes from the same seed, played with different actions: rewards or ends differ, observations never do,
    though they change from step to step.

    ## Why it matters
    Where an action has consequences later (a position that is held, a stock that runs low), the agent must see what it
    has done. If it does not, the same observation has different values, and nothing can tell them apart.

    ## Likely causes
    1. The part of the state that the action changes is missing in the observation: the position, the stock, the last
       action. Confirm: list the variables that `step()` changes, and look for each in the observation.
    2. The observation is made before the action is applied. Confirm: the order of lines in `step()`.

    ## What to try first
    Add the variables that the action changes to the observation.

    ## When it is fine
    Contextual bandits, and tasks where the world takes no notice of the agent and each action counts only at its own
    step.

    ## References
    Kaelbling et al., *Planning and Acting in Partially Observable Stochastic Domains*.
    """

    code: ClassVar[str] = "ENV033"
    name: ClassVar[str] = "observation-ignores-action"
    severity: ClassVar[Severity] = "note"
    reads: ClassVar[str] = "EnvPlay"

    pairs: int = 8  # episodes played twice
    steps: int = 50  # compared in all pairs together

    def check(self, evidence: EnvPlay) -> Iterator[Finding]:
        twins = evidence.twins
        if evidence.actions <= 1 or not twins.repeatable:
            raise NotEnough("needs several actions, and an environment that repeats itself under a seed")
        if twins.pairs < self.pairs or twins.steps < self.steps:
            raise NotEnough(
                f"{twins.pairs} pairs of episodes with {twins.steps} steps, needs {self.pairs} and {self.steps}"
            )
        if twins.obs_differ or not evidence.obs_changed or max(evidence.lengths, default=2) <= 1:
            return
        if not (twins.rewards_differ or twins.ends_differ):
            return
        yield self.finding(
            "what is seen does not depend on what is done",
            seen=f"{twins.pairs} seeds, each played twice with different actions: the same observations at all "
            f"{twins.steps} steps, other rewards in {twins.rewards_differ} pairs, other ends in {twins.ends_differ}",
            expected="the observation shows what an action has changed, unless each step is a task of its own",
            help="add what the action changes (a position, a stock, the last action) to the observation",
            confidence=0.8,
        )
