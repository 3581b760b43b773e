"""A few rewards are thousands of times larger than the rest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.env_play import EnvPlay
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class RewardOutliers(Rule):
    """A few rewards are thousands of times larger than the rest.

    ## What it checks
    Among the steps that do not end an episode, some rewards are more than a thousand times the median one by size, and
    they differ from one another: not one fixed bonus or penalty, but a quantity that blows up.

    ## Why it matters
    One such step moves the critic further than all others together, and its advantage decides the whole batch.

    ## Likely causes
    1. A division by something that comes close to zero: `1 / distance`, a relative change from a small base. Confirm:
       print the denominator at that step.
    2. A derivative over a jump: a difference across a reset, or an angle that wraps around. Confirm: print both
       values.
    3. The simulation becomes unstable for a moment. Confirm: look at the state around that step.

    ## What to try first
    Print all terms of the reward at the largest one.

    ## When it is fine
    Rare prizes whose size varies, by design; clip or scale them.

    ## References
    Mnih et al., *Human-level Control through Deep Reinforcement Learning* (clipped rewards).
    """

    code: ClassVar[str] = "NRM008"
    name: ClassVar[str] = "reward-outliers"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "EnvPlay"

    times: float = 1000.0  # the median size
    outliers: int = 3  # with different values
    steps: int = 500  # of all players

    def check(self, evidence: EnvPlay) -> Iterator[Finding]:
        rewards = evidence.rewards
        if rewards.steps < self.steps:
            raise NotEnough(f"{rewards.steps} steps, needs {self.steps}")
        far = {each for each in rewards.largest if abs(each) > self.times * rewards.middle}
        if len(far) < self.outliers:
            return
        worst = max(far, key=abs)
        yield self.finding(
            "a few rewards are thousands of times larger than the rest",
            seen=f"{worst:.4g} and {len(far) - 1} more among {rewards.steps}; the median size is {rewards.middle:.4g}",
            expected="rewards of comparable size within an episode",
            help="print the terms of the reward at the largest one: look for a division by something close to zero",
            confidence=0.75,
        )
