"""A reward that goes on for ever is not worth r / (1 − γ)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.ladder import Ladder
from rldebug.evidence.ladder_signs import shown, up_to
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class EndlessRewardNotLearned(Rule):
    """A reward that goes on for ever is not worth r / (1 − γ).

    ## What it checks
    The same reward for ever, cut off after five steps: the value rests at something that is neither right nor what
    five steps pay.

    ## Why it matters
    Where a rollout or an episode is cut, the critic stands for all that comes after: here it does so wrongly, or not
    everywhere.

    ## Likely causes
    1. A rollout ends in 0, or in the value of its last step, instead of the value of the observation after it.
       Confirm: print `last_value`, and V of the observation that the next rollout begins with.
    2. The bootstrap is scaled: γ where it should be γⁿ, or twice. Confirm: print the factor before it.
    3. A cut-off step is bootstrapped and its sum goes on besides. Confirm: print the return of such a step; it is r +
       γ V(last observation).

    ## What to try first
    Print the bootstrap and its factor at the end of a rollout, and where time ran out.

    ## When it is fine
    With γ = 1, where it has no value.

    ## References
    Sutton and Barto, *Reinforcement Learning*, chapter 3.3 (continuing tasks).
    """

    code: ClassVar[str] = "DIS016"
    name: ClassVar[str] = "endless-reward-not-learned"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Ladder"
    follows: ClassVar[tuple[str, ...]] = (*up_to("POL016"), "ADV007", "DIS013")

    def check(self, evidence: Ladder) -> Iterator[Finding]:
        rung = evidence["truncated-episode"]
        if rung.outcome != "failed":
            return
        yield self.finding(
            "a reward that goes on for ever is given another value than r / (1 − γ)",
            **shown(rung),
            help="print the bootstrap and its factor at the end of a rollout, and where time ran out",
            confidence=0.7,
        )
