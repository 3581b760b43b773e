"""The temperature is steered to an entropy that cannot be."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.temperature import Temperature, temperatures
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class TargetEntropyOutOfReach(Rule):
    """The temperature is steered to an entropy that cannot be.

    ## What it checks
    The gradient of the temperature is a straight line in the mean log-prob; where it is zero lies the target entropy.
    Actions in [-1, 1] have at most log 2 = 0.69 each, and a target above 0.2 each is nearly uniform; n discrete actions
    have between 0 and log n.

    ## Why it matters
    A target that is never reached drives the temperature up, or down, without end.

    ## Likely causes
    1. The sign: continuous control uses `-dim(A)`. Confirm: print the target entropy.
    2. The rule for continuous actions was kept for discrete ones. Confirm: the same.

    ## What to try first
    `-action_dim` for continuous actions; a share of `log(n)` below 1 for discrete ones.

    ## When it is fine
    Never where it is out of reach. Nearly uniform continuous policies may be wanted, rarely.

    ## References
    Haarnoja et al. 2018, *Soft Actor-Critic Algorithms and Applications*; Christodoulou 2019, *Soft Actor-Critic for
    Discrete Action Settings*.
    """

    code: ClassVar[str] = "ENT362"
    name: ClassVar[str] = "target-entropy-out-of-reach"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    follows: ClassVar[tuple[str, ...]] = ("ENT361", "ACT327")

    steps: int = 8  # of the temperature
    uniform: float = 0.2  # for each continuous action

    def check(self, evidence: Script) -> Iterator[Finding]:
        found = [each for each in temperatures(evidence) if each.slope < 0 and each.steps >= self.steps]
        if not found:
            raise NotEnough("no temperature was seen to be learned")
        for each in found:
            text = self._wrong(evidence, each)
            if text:
                yield self.finding(
                    "the temperature is steered to an entropy that cannot be"
                    if each.discrete
                    else "the temperature is steered to a policy that is uniform, or more than that",
                    where=each.where,
                    seen=f"target entropy {each.target:.3g}, in {each.steps} steps",
                    expected=text,
                    help="-action_dim for continuous actions, a share of log(n) for n discrete ones",
                    confidence=0.92,
                )

    def _wrong(self, script: Script, each: Temperature) -> str:
        if not each.discrete:
            high = self.uniform * max(each.size, 1)
            return (
                f"a negative one; for each action at most {math.log(2):.2f} is possible" if each.target > high else ""
            )
        count = each.size or max(
            (int((one.get("facts") or {}).get("action_n") or 0) for one in script.streams), default=0
        )
        if count < 2:
            return ""
        low, high = -0.02, math.log(count) + 0.02
        return "" if low <= each.target <= high else f"between 0 and log({count}) = {math.log(count):.2f}"
