"""Rewards of a thousand stop the policy from learning."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.ladder import Ladder
from rldebug.evidence.ladder_signs import shown, up_to
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class LargeRewardNotLearned(Rule):
    """Rewards of a thousand stop the policy from learning.

    ## What it checks
    The rung of two states and two actions again, with rewards of ±1000: with ±1 it was learned, and now it is not.

    ## Why it matters
    Tasks pay what they pay. Scores in points, losses in currency: the scale should not decide whether anything is
    learned.

    ## Likely causes
    1. Advantages are not normalised, or the wrong way: the policy's step is a thousand times too large or too small.
       Confirm: print their standard deviation at the loss; it should be about 1.
    2. Value and policy gradients are clipped together, and the value's, a thousand times as long, leaves nothing.
       Confirm: print both norms before clipping.
    3. Numbers overflow: half precision, squares. Confirm: print the dtype on the way from reward to advantage.

    ## What to try first
    Print the norms of the policy's and the critic's gradients before clipping.

    ## When it is fine
    Where the task's rewards are scaled by hand to about 1, and it is known that they must be. Many a sound PPO clips
    the gradients of policy and critic together, and needs that.

    ## References
    van Hasselt and others, *Learning values across many orders of magnitude*.
    """

    code: ClassVar[str] = "NRM010"
    name: ClassVar[str] = "large-reward-not-learned"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Ladder"
    follows: ClassVar[tuple[str, ...]] = up_to("POL016")

    def check(self, evidence: Ladder) -> Iterator[Finding]:
        rung = evidence["large-reward"]
        if rung.outcome != "failed":
            return
        yield self.finding(
            "rewards of a thousand stop the policy from learning",
            **shown(rung),
            help="scale rewards, or clip the gradients of policy and critic apart: print both norms with rewards of 1 "
            "and of 1000",
            confidence=0.8,
        )
