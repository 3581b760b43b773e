"""The algorithm cannot give the actions that the environment takes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class ActionSpaceUnsupported(Rule):
    """The algorithm cannot give the actions that the environment takes.

    ## What it checks
    A library refused to make an algorithm for an environment's action space.

    ## Why it matters
    Algorithms are made for a kind of action: DQN for a number of choices, SAC, TD3 and DDPG for continuous ones, PPO
    and A2C for both.

    ## Likely causes
    1. DQN for a `Box`, or SAC for a `Discrete`. Confirm: print `env.action_space`.
    2. The actions are a `Dict` or `Tuple`, which few take. Confirm: the same.
    3. A wrapper that makes the actions discrete, or flat, was forgotten. Confirm: print the environment.

    ## What to try first
    Take an algorithm for these actions, or a wrapper that turns them into what it takes.

    ## When it is fine
    Never: the program has ended.

    ## References
    Stable-Baselines3, *RL algorithms*.
    """

    code: ClassVar[str] = "ACT440"
    name: ClassVar[str] = "action-space-unsupported"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return evidence.says(
            "only supports .* as action spaces",
            r"(?i)action space .*(is not|isn't|not) supported",
            r"NotImplementedError: probability distribution, not implemented for",
            "probability distribution, not implemented for action space",
        )

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        found = re.search(r"but (.+?) was provided", evidence.message)
        given = found[1] if found else ""
        spaces = [fact["action_space"]["told"] for _, _, fact in evidence.held("environment") if "action_space" in fact]
        given = given or (spaces[0] if spaces else "")
        discrete = given.startswith("Discrete")
        yield self.finding(
            f"the algorithm does not take actions of {given or 'this kind'}",
            where=evidence.where,
            seen=evidence.said,
            expected="an algorithm for the actions of the environment",
            help="take DQN, PPO or A2C for discrete actions"
            if discrete
            else "take SAC, TD3, PPO or A2C for a Box; for DQN let a wrapper offer a few of the actions"
            if given.startswith("Box")
            else "take PPO or A2C, which take Box, Discrete, MultiDiscrete and MultiBinary; flatten a Dict or Tuple",
            confidence=0.95,
        )
