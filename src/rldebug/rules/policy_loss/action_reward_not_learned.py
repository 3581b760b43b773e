"""Values are learned, and the action that pays is not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.ladder import Ladder
from rldebug.evidence.ladder_signs import shown, up_to
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class ActionRewardNotLearned(Rule):
    """Values are learned, and the action that pays is not.

    ## What it checks
    One state, two actions, of which one pays 1 and the other −1: the policy has not come to prefer the first.

    ## Why it matters
    This is the smallest thing that a policy can learn.

    ## Likely causes
    1. The log-probability is that of another action, or of another row: drawn again, or flattened in another order.
       Confirm: recompute it for the stored pair with the weights that acted: the ratio must be 1.
    2. The loss multiplies means instead of rows: `mean(logp) · advantage`, or `(N, 1)` times `(N,)`. Confirm: print
       the shape of their product before the mean.
    3. The action stored is not the one played. Confirm: record what `env.step` was called with beside what is stored.
    4. Advantages belong to other rows. Confirm: print reward, action and advantage of ten rows; their signs must
       agree.

    ## What to try first
    Print action, reward, advantage and log-probability of ten rows: the signs of reward and advantage must agree.

    ## When it is fine
    Never.

    ## References
    Schulman and others, *Proximal policy optimization algorithms*; Sutton and Barto, *Reinforcement Learning*,
    chapter 13. Jones, *Debugging RL, Without the Agonizing Pain* (probe environments).
    """

    code: ClassVar[str] = "POL015"
    name: ClassVar[str] = "action-reward-not-learned"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Ladder"
    follows: ClassVar[tuple[str, ...]] = up_to("ENT007")

    def check(self, evidence: Ladder) -> Iterator[Finding]:
        rung = evidence["action-reward"]
        if rung.outcome != "failed":
            return
        yield self.finding(
            "the action that pays is not learned",
            **shown(rung),
            help="print action, reward, advantage and log-probability of ten rows: signs of the middle two must agree",
            confidence=0.7,
        )
