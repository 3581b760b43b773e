"""The policy learns to do what pays least."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.ladder import Ladder
from rldebug.evidence.ladder_signs import chances_of_right, shown, up_to, values_alone
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class PolicyPrefersTheWorst(Rule):
    """The policy learns to do what pays least.

    ## What it checks
    Values are learned, and where one action pays 1 and the other −1 the policy has come to choose the one that pays
    least, in every attempt.

    ## Why it matters
    It learns, fast and surely, in the wrong direction.

    ## Likely causes
    1. The policy loss lacks its minus: the objective is minimised. Confirm: after one update, the probability of an
       action with a positive advantage must have risen.
    2. The advantage is V − return instead of return − V; from outside the two cannot be told apart. Confirm: print
       reward, value and advantage of ten rows.
    3. Where the policy follows the critic's slope: Q enters the loss with the wrong sign. Confirm: the policy's loss
       must fall where Q rises.

    ## What to try first
    Print advantage, and probability before and after one update, of ten rows.

    ## When it is fine
    Where rewards are costs; negate them.

    ## References
    Schulman and others, *Proximal policy optimization algorithms*; Sutton and Barto, *Reinforcement Learning*,
    chapter 13.
    """

    code: ClassVar[str] = "POL013"
    name: ClassVar[str] = "policy-prefers-the-worst"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Ladder"
    follows: ClassVar[tuple[str, ...]] = up_to("DIS014")

    surely: float = 0.2  # chance of the right action: less is a preference for the wrong one

    def check(self, evidence: Ladder) -> Iterator[Finding]:
        if values_alone(evidence):
            return
        for name in ("action-reward", "observed-action-reward"):
            rung = evidence[name]
            chances = chances_of_right(rung)
            if rung.outcome != "failed" or chances is None or chances.max() > self.surely:
                continue
            yield self.finding(
                "the policy learns to do what pays least",
                **shown(rung),
                help="print the advantage, and the probability before and after one update, of ten rows",
                confidence=0.9,
            )
            return
