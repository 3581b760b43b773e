"""The environment gives rewards that are NaN or infinite."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.worlds import name_of, number
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class RewardNotFinite(Rule):
    """A reward is NaN or infinite.

    ## What it checks
    The rewards that `step()` returned, in environments of one lane whose other rewards are numbers: their sum is none.

    ## Why it matters
    One such reward makes every target that contains it, every gradient, and soon every weight NaN.

    ## Likely causes
    1. A logarithm of zero or a division by zero in the reward. Confirm: print the state where it comes up.
    2. The simulation has blown up, often because of an action far outside the bounds. Confirm: print the action.

    ## What to try first
    Assert that the reward is finite at the end of `step()`.

    ## When it is fine
    Never in training.

    ## References
    Gymnasium documentation, *check_env*.
    """

    code: ClassVar[str] = "ENV306"
    name: ClassVar[str] = "reward-not-finite"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "environment"

    rewards: int = 20  # that were given

    def check(self, evidence: Script) -> Iterator[Finding]:
        streams = [each for each in evidence.streams if int((each.get("reward") or {}).get("count") or 0)]
        if sum(int(each["reward"]["count"]) for each in streams) < self.rewards:
            raise NotEnough("hardly a reward was given")
        for stream in streams:
            reward = stream["reward"]
            low, high, mean = (number(reward.get(name)) for name in ("min", "max", "mean"))
            if math.isfinite(mean) or int(stream.get("lanes") or 1) > 1:
                continue  # rewards that could not be read, and those of players who are out, are NaN here
            if math.isinf(low) and math.isinf(high) and low > high:
                continue  # not one could be read
            infinite = math.isinf(low) or math.isinf(high)
            yield self.finding(
                "a reward is infinite" if infinite else "a reward is NaN",
                seen=f"among {reward['count']} rewards of {name_of(stream)}, which lie in {low:.3g} … {high:.3g}",
                expected="finite rewards",
                help="assert that the reward is finite at the end of step(), and look at the state where it is not",
                confidence=0.95,
            )
            return
