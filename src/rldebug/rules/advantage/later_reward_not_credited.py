"""Actions are not credited with what they lead to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.ladder import Ladder
from rldebug.evidence.ladder_signs import shown, up_to
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class LaterRewardNotCredited(Rule):
    """Actions are not credited with what they lead to.

    ## What it checks
    The first action decides what the second step pays. Values of what comes later are learned, and actions that pay
    at once are; this one is not.

    ## Why it matters
    An action is judged by its own step's reward alone: anything that pays later is left to chance.

    ## Likely causes
    1. The advantage is the step's reward minus the value, not the return minus the value. Confirm: print advantage +
       value of a first step; it must be γ times what comes after.
    2. Advantages are those of the step before or after. Confirm: print reward, action and advantage of ten rows in
       the order of time.
    3. Returns are right for the critic, and others are used for the policy. Confirm: target − value must be the
       advantage, before it is normalised.

    ## What to try first
    Print target − value beside the advantage of ten rows: before normalising they are the same.

    ## When it is fine
    Contextual bandits.

    ## References
    Sutton and Barto, *Reinforcement Learning*, chapter 13.3–13.5 (policy gradients with returns and critics).
    """

    code: ClassVar[str] = "ADV009"
    name: ClassVar[str] = "later-reward-not-credited"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Ladder"
    follows: ClassVar[tuple[str, ...]] = up_to("POL016")

    def check(self, evidence: Ladder) -> Iterator[Finding]:
        rung = evidence["two-step-credit"]
        if rung.outcome != "failed":
            return
        yield self.finding(
            "actions are not credited with what they lead to",
            **shown(rung),
            help="print target − value beside the advantage of ten rows: before normalising they are the same",
            confidence=0.8,
        )
