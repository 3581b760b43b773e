"""The network forgets at every step what it has seen, while it acts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.memory_replay import replays
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class MemoryNotCarried(Rule):
    """While it acts, the network forgets at every step what it has seen.

    ## What it checks
    What a recurrent network says of a step in the first loss after acting, beside what it said when it acted: the
    weights are the same. At the first step of an episode both are equal. At most others they are not, and the network
    was given no state there, or an empty one.

    ## Why it matters
    The network learns to use a memory that it does not have when it acts. What needs to be remembered is never done
    right, and the log-probs that are learned are not those of the actions that were taken.

    ## Likely causes
    1. The state that the network returns is not assigned, or not handed over with the next observation. Confirm: print
       its norm at the third step of an episode.
    2. The state is set to zeros within the loop over steps. Confirm: the same.

    ## What to try first
    Set the state to zeros at the reset, and hand over what the network returned at every step after it.

    ## When it is fine
    Never, where sequences are learned from.

    ## References
    Hausknecht and Stone, *Deep Recurrent Q-Learning for Partially Observable MDPs* (2015).
    """

    code: ClassVar[str] = "BUF371"
    name: ClassVar[str] = "memory-not-carried"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"

    steps: int = 24  # that are not the first of an episode
    begun: int = 4  # that are
    share: float = 0.5  # of the later steps of which something else is said; a sequence may begin with any of them
    right: float = 0.05  # of the first ones

    def check(self, evidence: Script) -> Iterator[Finding]:
        judged = False
        for each in replays(evidence):
            first, later = each.share("first", self.begun), each.share("later", self.steps)
            if later is None or each.audits < 2:
                continue
            judged = True
            if (first or 0.0) > self.right or later < self.share or each.carried or each.empty < self.steps:
                continue
            yield self.finding(
                "while it acts, the network forgets at every step what it has seen",
                where=each.acting.where,
                seen=f"no state, or an empty one, at {each.empty} steps that are not the first of an episode; in the "
                f"first loss after it {each.module} says something else of {later:.0%} of them",
                expected="the state of the step before, but at the first of an episode",
                help="hand the state that the network returns over with the next observation",
                confidence=0.95,
            )
            return
        if not judged:
            raise NotEnough("steps of a recurrent network that were seen both acting and learning, with equal weights")
