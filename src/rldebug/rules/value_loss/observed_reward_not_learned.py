"""The critic does not learn rewards that what is seen tells."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.ladder import Ladder
from rldebug.evidence.ladder_signs import shown, up_to
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class ObservedRewardNotLearned(Rule):
    """The critic does not learn rewards that what is seen tells.

    ## What it checks
    The second rung: two states, one step, a reward of 1 or −1 that the observation tells. Their values came to rest
    elsewhere.

    ## Why it matters
    A constant was learned on the rung below; what this one adds is that the value depends on the observation.

    ## Likely causes
    1. Targets and values are of different rows. Confirm: print observation, value and target of ten rows.
    2. Negative rewards are lost: clipped at 0, stored unsigned, squared. Confirm: print the rewards in the buffer;
       half are −1.
    3. The critic's output is bounded, by a sigmoid or a ReLU. Confirm: print its last layer.

    ## What to try first
    Print observation, reward, value and target of ten rows.

    ## When it is fine
    Never.

    ## References
    Jones, *Debugging RL, Without the Agonizing Pain* (probe environments).
    """

    code: ClassVar[str] = "VAL015"
    name: ClassVar[str] = "observed-reward-not-learned"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Ladder"
    follows: ClassVar[tuple[str, ...]] = up_to("VAL011")

    def check(self, evidence: Ladder) -> Iterator[Finding]:
        rung = evidence["observed-reward"]
        if rung.outcome != "failed":
            return
        yield self.finding(
            "rewards that the observation tells are not learned",
            **shown(rung),
            help="print observation, reward, value and target of ten rows",
            confidence=0.7,
        )
