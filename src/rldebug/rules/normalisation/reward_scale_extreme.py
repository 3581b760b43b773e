"""Rewards are very large or very small."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.env_play import EnvPlay
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class RewardScaleExtreme(Rule):
    """Rewards are very large or very small.

    ## What it checks
    The root mean square of the rewards is above a thousand, or the largest reward is below a ten-thousandth. A warning
    from a hundred thousand on, and below a millionth.

    ## Why it matters
    The value loss grows with the square of the reward: large rewards drown the policy in a shared network and explode
    gradients; small ones vanish behind the entropy bonus and the epsilon of Adam.

    ## Likely causes
    1. Units: cents for euros, joules for kilowatt hours. Confirm: print the terms of the reward with their units.
    2. A penalty or a squared error that is far larger than intended. Confirm: print the largest term.
    3. Scaling is left to the training script. Confirm: it wraps the environment in `NormalizeReward`.

    ## What to try first
    Multiply the reward so that returns are of the order of 1 to 100.

    ## When it is fine
    The training script scales rewards.

    ## References
    Henderson et al., *Deep Reinforcement Learning that Matters* (reward scale).
    """

    code: ClassVar[str] = "NRM007"
    name: ClassVar[str] = "reward-scale-extreme"
    severity: ClassVar[Severity] = "note"
    reads: ClassVar[str] = "EnvPlay"
    follows: ClassVar[tuple[str, ...]] = ("NRM008",)

    large: float = 1e3  # root mean square: a note
    huge: float = 1e5  # root mean square: a warning
    small: float = 1e-4  # the largest reward by size: a note
    tiny: float = 1e-6  # the largest reward by size: a warning
    steps: int = 200  # of all players

    def check(self, evidence: EnvPlay) -> Iterator[Finding]:
        rewards = evidence.rewards
        if rewards.steps < self.steps:
            raise NotEnough(f"{rewards.steps} steps, needs {self.steps}")
        largest = max(abs(rewards.low), abs(rewards.high))
        if largest == 0 or not (rewards.rms > self.large or largest < self.small):
            return
        big = rewards.rms > self.large
        yield self.finding(
            f"rewards are very {'large' if big else 'small'}",
            seen=f"{rewards.low:.4g} … {rewards.high:.4g}, rms {rewards.rms:.4g} over {rewards.steps} steps",
            expected="rewards of the order of 1",
            help=f"{'divide' if big else 'multiply'} the reward so that returns are of the order of 1 to 100",
            confidence=0.8,
            severity="warning" if rewards.rms > self.huge or largest < self.tiny else "note",
        )
