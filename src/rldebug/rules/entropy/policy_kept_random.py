"""The policy leans to the right action, and is kept random."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.ladder import Ladder
from rldebug.evidence.ladder_signs import chances_of_right, shown, still, up_to, values_alone
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class PolicyKeptRandom(Rule):
    """The policy leans to the right action, and is kept random.

    ## What it checks
    Where one action pays 1 and the other −1 the policy has come to rest between indifference and certainty, on the
    right side, with every seed: the reward pulls, and something as strong pulls back.

    ## Why it matters
    A bonus for entropy that is as large as the reward makes randomness the task.

    ## Likely causes
    1. The weight of the entropy bonus is too large for rewards of 1, or the bonus is summed where the loss is
       averaged. Confirm: print both terms of the loss.
    2. The temperature grows instead of falling: the sign of its loss. Confirm: print it beside the entropy and its
       target.
    3. Probabilities are floored, smoothed, or mixed with uniform noise where they are learned. Confirm: print the
       largest probability the policy can have.

    ## What to try first
    Set the weight of the entropy bonus to 0, and look again.

    ## When it is fine
    Where such randomness is wanted: the policy is then not expected to pass.

    ## References
    Haarnoja and others, *Soft actor-critic algorithms and applications* (temperature).
    """

    code: ClassVar[str] = "ENT007"
    name: ClassVar[str] = "policy-kept-random"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Ladder"
    follows: ClassVar[tuple[str, ...]] = up_to("DIS014")

    least: float = 0.53  # chance of the right action, of two: more than indifference
    most: float = 0.9  # less than certainty
    spread: float = 0.12  # between seeds: an equilibrium is the same for all

    def check(self, evidence: Ladder) -> Iterator[Finding]:
        rung = evidence["action-reward"]
        chances = chances_of_right(rung)
        if rung.outcome != "failed" or chances is None or still(rung) or values_alone(evidence):
            return
        tables = [each.policy for each in rung.attempts if each.outcome == "failed" and each.policy is not None]
        assert rung.right is not None
        by_seed = [float((each * (rung.right > 0)).sum(axis=1).mean()) for each in tables]
        if not all(self.least <= each <= self.most for each in by_seed) or np.ptp(by_seed) > self.spread:
            return
        yield self.finding(
            "the policy leans to the right action, and is kept from choosing it",
            **shown(rung),
            help="set the weight of the entropy bonus, or the temperature, to 0, and look again",
            confidence=0.8,
        )
