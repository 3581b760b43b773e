"""Nothing that is seen or done says anything about the reward."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.env_play import EnvPlay
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class RewardUnrelatedToObservation(Rule):
    """Nothing that is seen or done says anything about the reward.

    ## What it checks
    Three simple models (linear, in bins, nearest neighbours) try to tell the reward from the observation before and
    after the step and the action, on steps they were not fitted to. None explains more than 2 % of its variance. Asked
    only where there are a few elements and rewards vary at most steps.

    ## Why it matters
    What cannot be told from observation and action looks like noise to the critic, and drowns the part that can be
    learned.

    ## Likely causes
    1. The reward is made of variables that the observation lacks. Confirm: list what the reward is computed from, and
       look for each in the observation.
    2. The observation belongs to another moment, or another object, than the reward. Confirm: print both beside the
       state.
    3. Noise on the reward that is much larger than the reward. Confirm: print the reward without it.

    ## What to try first
    Add what the reward is computed from to the observation.

    ## When it is fine
    Noise by design, in bandits; or a signal that needs memory.

    ## References
    Kaelbling et al., *Planning and Acting in Partially Observable Stochastic Domains*.
    """

    code: ClassVar[str] = "ENV035"
    name: ClassVar[str] = "reward-unrelated-to-observation"
    severity: ClassVar[Severity] = "note"
    reads: ClassVar[str] = "EnvPlay"
    follows: ClassVar[tuple[str, ...]] = ("ENV030", "ENV031", "ENV032", "NRM008")

    told: float = 0.02  # share of the reward's variance that must be explained

    def check(self, evidence: EnvPlay) -> Iterator[Finding]:
        if evidence.reward_told != evidence.reward_told:
            raise NotEnough("needs 1000 steps of varying rewards, and few elements of observation")
        if evidence.reward_told > self.told:
            return
        yield self.finding(
            "nothing that is seen or done tells the reward",
            seen=f"observation, action and next observation explain {evidence.reward_told:.1%} of the reward",
            expected="at least a part of the reward follows from what the agent sees and does",
            help="add what the reward is computed from to the observation",
            confidence=0.6,
        )
