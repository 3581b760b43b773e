"""The reward of an episode's last step never arrives."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.ladder import Ladder
from rldebug.evidence.ladder_signs import shown, still, values_alone
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class LastRewardLost(Rule):
    """The reward of an episode's last step never arrives.

    ## What it checks
    On the first rung, where every step is a last one, the value has learned 0, and actions that pay are not preferred
    either, or were not tried.

    ## Why it matters
    In most tasks the last step pays what matters: the goal, the fall.

    ## Likely causes
    1. The reward is multiplied with the mask of the bootstrap: `(1 − terminated) · (r + γ V)`. Confirm: print reward
       and target of a last step.
    2. An n-step sum counts steps before the end only. Confirm: compare its sum over one episode with the sum of
       rewards.
    3. Last steps are never stored, or never sampled. Confirm: count rows with `terminated` in the buffer.

    ## What to try first
    Print reward, terminated and target of ten rows; here all three columns are 1.

    ## When it is fine
    Never.

    ## References
    Sutton and Barto, *Reinforcement Learning*, chapter 7.1 (n-step returns stop at the end, and include its reward).
    """

    code: ClassVar[str] = "DIS015"
    name: ClassVar[str] = "last-reward-lost"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Ladder"
    follows: ClassVar[tuple[str, ...]] = ("OPT010", "VAL010")

    def check(self, evidence: Ladder) -> Iterator[Finding]:
        rung = evidence["constant-reward"]
        if rung.outcome != "failed" or "nothing-learned" not in rung.matched or still(rung):
            return
        # Where a policy learns what pays, rewards of last steps do arrive. An argmax of zeros may be right by luck.
        if evidence.passed("action-reward") and not values_alone(evidence):
            return
        yield self.finding(
            "the reward of an episode's last step never arrives",
            **shown(rung),
            help="print reward, terminated and target of ten rows: where terminated, the target is the reward",
            confidence=0.85,
        )
