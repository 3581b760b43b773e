"""Rewards of a thousandth are not learned from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.ladder import Ladder
from rldebug.evidence.ladder_signs import shown, up_to
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class SmallRewardNotLearned(Rule):
    """Rewards of a thousandth are not learned from.

    ## What it checks
    The rung of two states and two actions again, with rewards of ±0.001: with ±1 it was learned, and now it is not.

    ## Why it matters
    Small differences are all there is in many tasks, once a large constant is taken off.

    ## Likely causes
    1. Rewards are rounded, or stored as integers. Confirm: print what the buffer holds; it must be 0.001.
    2. An epsilon that should only avoid division by 0 is larger than what is divided. Confirm: print the standard
       deviation of advantages beside it.
    3. A fixed bonus (entropy, novelty) is a thousand times what is paid. Confirm: set it to 0, and look again.

    ## What to try first
    Print reward and advantage of ten rows as they enter the loss.

    ## When it is fine
    Where the task's rewards are scaled by hand to about 1.

    ## References
    van Hasselt and others, *Learning values across many orders of magnitude*.
    """

    code: ClassVar[str] = "NRM011"
    name: ClassVar[str] = "small-reward-not-learned"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Ladder"
    follows: ClassVar[tuple[str, ...]] = up_to("POL016")

    def check(self, evidence: Ladder) -> Iterator[Finding]:
        rung = evidence["small-reward"]
        if rung.outcome != "failed":
            return
        yield self.finding(
            "rewards of a thousandth are not learned from",
            **shown(rung),
            help="print reward and advantage of ten rows, and the epsilon they are divided with",
            confidence=0.8,
        )
