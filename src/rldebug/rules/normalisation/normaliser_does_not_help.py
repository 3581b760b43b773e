"""Behind its normaliser, the network still cannot see."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.ladder import Ladder
from rldebug.evidence.ladder_signs import shown, up_to
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class NormaliserDoesNotHelp(Rule):
    """Behind its normaliser, the network still cannot see.

    ## What it checks
    The rung of two states and two actions again, in observations from 5000 to 6000, with the normaliser that the
    algorithm says it has. Without the offset it was learned.

    ## Why it matters
    Sensors have units. A normaliser that is not fed, or not applied everywhere, is worse than none: acting and
    learning see different numbers.

    ## Likely causes
    1. Its statistics are never updated, or frozen too early. Confirm: print its mean and count after a thousand
       steps.
    2. It is applied when acting and not when learning, or to the critic and not to the policy. Confirm: print mean
       and deviation of what enters each first layer.
    3. It subtracts, and does not divide; or clips before it subtracts. Confirm: normalise 5000 and 6000 by hand.
    4. Statistics are taken over features instead of rows. Confirm: compare its mean with `obs.mean(0)`.

    ## What to try first
    Print mean and deviation of what enters the policy's first layer, when acting and when learning.

    ## When it is fine
    Never, where a normaliser is said to be on.

    ## References
    Andrychowicz and others, *What matters in on-policy reinforcement learning?* (observation normalisation).
    """

    code: ClassVar[str] = "NRM012"
    name: ClassVar[str] = "normaliser-does-not-help"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Ladder"
    follows: ClassVar[tuple[str, ...]] = up_to("POL016")

    def check(self, evidence: Ladder) -> Iterator[Finding]:
        rung = evidence["offset-observation"]
        if rung.outcome != "failed":
            return
        yield self.finding(
            "observations far from 0 are not learned from, in spite of the normaliser",
            **shown(rung),
            help="print mean and deviation of what enters the policy's first layer, when acting and when learning",
            confidence=0.8,
        )
