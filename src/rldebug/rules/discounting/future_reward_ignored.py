"""States are worth their own reward, and nothing that comes after it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.ladder import Ladder
from rldebug.evidence.ladder_signs import shown, up_to
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class FutureRewardIgnored(Rule):
    """States are worth their own reward, and nothing that comes after it.

    ## What it checks
    Two steps with a reward at the end: the second is worth 1, the first, which leads to it, nothing.

    ## Why it matters
    An agent that looks one step ahead learns bandits. Anything delayed is invisible to it.

    ## Likely causes
    1. Returns are accumulated from the first step on, not from the last. Confirm: rewards 0, 0, 1 must give γ², γ, 1.
    2. The flags are those of the next step, or every step counts as an end. Confirm: print reward, terminated and
       return of ten rows.
    3. The target is the reward alone, or γ is 0. Confirm: print target − reward; it must not be 0 everywhere.
    4. Targets are cast to whole numbers: 0.9 becomes 0. Confirm: print the dtype of the target.

    ## What to try first
    Feed the rewards 0, 0, 1 of one episode to your return: it must give γ², γ, 1.

    ## When it is fine
    Contextual bandits, with γ = 0 said so in the settings.

    ## References
    Sutton and Barto, *Reinforcement Learning*, chapter 3.3 (returns).
    """

    code: ClassVar[str] = "DIS011"
    name: ClassVar[str] = "future-reward-ignored"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Ladder"
    follows: ClassVar[tuple[str, ...]] = (*up_to("VAL015"), "TGT005")

    def check(self, evidence: Ladder) -> Iterator[Finding]:
        for name in ("delayed-reward", "discount-chain"):
            rung = evidence[name]
            if rung.outcome != "failed" or rung.matched[:1] != ("future-ignored",):
                continue
            yield self.finding(
                "states are worth their own reward, and nothing that comes after it",
                **shown(rung),
                help="feed the rewards 0, 0, 1 of one episode to your return: it must give γ², γ, 1",
                confidence=0.9,
            )
            return
