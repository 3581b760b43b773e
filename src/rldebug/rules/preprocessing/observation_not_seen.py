"""The network answers the same whatever it is shown."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.ladder import Ladder
from rldebug.evidence.ladder_signs import same_to_the_bit, shown, up_to
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class ObservationNotSeen(Rule):
    """The network answers the same whatever it is shown.

    ## What it checks
    States that look different, and are worth 1 and −1, have the same value to the last digit, in every attempt.

    ## Why it matters
    A network that is shown nothing can learn averages only.

    ## Likely causes
    1. The observation is overwritten, masked or sliced away before the network. Confirm: print the tensor that enters
       the first layer for two states.
    2. It is scaled to nothing: divided by 255 twice, or as an integer. Confirm: print its minimum and maximum behind
       the preprocessing.
    3. The network has a dead or zero first layer. Confirm: feed two random inputs, and compare the outputs.

    ## What to try first
    Print the tensor that enters the first layer, for both states of `rldebug/ObservedReward-v0`.

    ## When it is fine
    Never.

    ## References
    Jones, *Debugging RL, Without the Agonizing Pain* (probe environments).
    """

    code: ClassVar[str] = "PRE010"
    name: ClassVar[str] = "observation-not-seen"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Ladder"
    follows: ClassVar[tuple[str, ...]] = up_to("VAL009")

    def check(self, evidence: Ladder) -> Iterator[Finding]:
        rung = evidence["observed-reward"]
        if rung.outcome != "failed" or not same_to_the_bit(rung, "value"):
            return
        yield self.finding(
            "the value is the same, to the last digit, whatever is seen",
            **shown(rung),
            help="print the tensor that enters the critic's first layer for two different states",
            confidence=0.9,
        )
