"""Rewards are learned as those of another step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.ladder import Ladder
from rldebug.evidence.ladder_signs import alike, same_to_the_bit, shown, through_critic, up_to
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class RewardOfAnotherStep(Rule):
    """Rewards are learned as those of another step.

    ## What it checks
    Values are the mean reward whatever is seen, and actions that pay are not preferred: what is stored as the reward
    of a step has nothing to do with that step. Only for policies that learn from sampled returns.

    ## Why it matters
    With dense rewards that change slowly it learns anyway, a little worse, and nobody notices.

    ## Likely causes
    1. The reward is stored one step late: that which came before the observation. Confirm: play an environment whose
       reward is the action, and compare the two columns of the buffer.
    2. Rewards are flattened in another order than observations and actions. Confirm: store the step's number as
       reward, and look at the rows.
    3. Rewards of different environments are swapped. Confirm: store the environment's index as reward.

    ## What to try first
    Store the step's number in place of the reward, and print ten rows of a batch.

    ## When it is fine
    Never.

    ## References
    Seen in a widely used implementation, where the row held the reward of the step before. Jones, *Debugging RL,
    Without the Agonizing Pain* (probe environments).
    """

    code: ClassVar[str] = "BUF011"
    name: ClassVar[str] = "reward-of-another-step"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Ladder"
    follows: ClassVar[tuple[str, ...]] = up_to("PRE010")

    def check(self, evidence: Ladder) -> Iterator[Finding]:
        rung = evidence["observed-reward"]
        if rung.outcome != "failed" or not alike(rung) or same_to_the_bit(rung, "value"):
            return
        if through_critic(evidence) or not evidence.failed("action-reward"):
            return
        action = shown(evidence["action-reward"])
        numbers = shown(rung)
        yield self.finding(
            "rewards are learned as those of another step",
            seen=f"{numbers['seen']}; {action['seen']}",
            expected=f"{numbers['expected']}; {action['expected']}",
            help="store the step's number in place of the reward, and print ten rows of a batch",
            confidence=0.85,
        )
