"""A small reward at once is taken, and the large one never found."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.ladder import Ladder
from rldebug.evidence.ladder_signs import shown, up_to
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class BaitTaken(Rule):
    """A small reward at once is taken, and the large one never found.

    ## What it checks
    Five right steps in a row pay 1, and the other action 0.1 at once: the policy takes the 0.1. Credit over two steps
    was learned.

    ## Why it matters
    Who stops trying before the reward is met has nothing to learn from.

    ## Likely causes
    1. Exploration ends too early, or there is none: ε falls to its floor in the first steps. Confirm: print ε over
       the first thousand steps.
    2. The policy is sure of itself after a few updates. Confirm: print its entropy over the same steps.
    3. Random actions are drawn, and not played. Confirm: count how often each action is played in the first thousand
       steps.

    ## What to try first
    Print the share of random actions, or the entropy, over the first thousand steps.

    ## When it is fine
    Where exploration is kept small on purpose; the chain is met by chance once in 32 tries.

    ## References
    Osband and others, *Deep exploration via bootstrapped DQN* (chains).
    """

    code: ClassVar[str] = "EXP006"
    name: ClassVar[str] = "bait-taken"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Ladder"
    follows: ClassVar[tuple[str, ...]] = (*up_to("POL016"), "ADV009")

    def check(self, evidence: Ladder) -> Iterator[Finding]:
        rung = evidence["sparse-chain"]
        if rung.outcome != "failed":
            return
        yield self.finding(
            "a small reward at once is taken, and the large one behind it never found",
            **shown(rung),
            help="print the share of random actions, or the entropy, over the first thousand steps",
            confidence=0.75,
        )
