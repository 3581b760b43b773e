"""The luckiest of many noisy estimates is believed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.ladder import Ladder
from rldebug.evidence.ladder_signs import shown, up_to
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class LuckiestEstimateBelieved(Rule):
    """The luckiest of many noisy estimates is believed.

    ## What it checks
    Eight actions that pay 1 or −1 by chance: the state before them is believed to be worth far more than 0, beyond
    the little that a maximum over estimates always adds.

    ## Why it matters
    Overestimates feed on themselves through bootstrapping: the agent seeks out what it knows least.

    ## Likely causes
    1. The maximum is taken over samples, networks or rows, not over averaged action values. Confirm: print the axis
       of the `max`, and the shape it is applied to.
    2. Of several critics the largest is used, where the least is meant. Confirm: print `min` or `max` in the target.
    3. Double Q-learning is meant, and the target network both chooses and values. Confirm: print which network gives
       the argmax.

    ## What to try first
    Print which network chooses the next action and which one values it, and the axis of every `max` on the way.

    ## When it is fine
    A little of it, in plain Q-learning; this fires far above that.

    ## References
    van Hasselt and others, *Deep reinforcement learning with double Q-learning*; Fujimoto and others, *TD3*.
    """

    code: ClassVar[str] = "TGT006"
    name: ClassVar[str] = "luckiest-estimate-believed"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Ladder"
    follows: ClassVar[tuple[str, ...]] = (*up_to("POL016"), "ADV007", "DIS013", "DIS016", "VAL013")

    def check(self, evidence: Ladder) -> Iterator[Finding]:
        rung = evidence["noisy-arms"]
        if rung.outcome != "failed":
            return
        yield self.finding(
            "the luckiest of many noisy estimates is believed",
            **shown(rung),
            help="print which network chooses the next action and which values it, and the axis of every max",
            confidence=0.8,
        )
