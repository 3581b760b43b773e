"""Beside numbers that tell nothing, the state is no longer seen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.ladder import Ladder
from rldebug.evidence.ladder_signs import shown, up_to
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class NoiseDrownsObservation(Rule):
    """Beside numbers that tell nothing, the state is no longer seen.

    ## What it checks
    The rung of two states and two actions again, beside eight numbers of noise. Without them it was learned.

    ## Why it matters
    Every sensor adds noise. Zeros and ones get through a layer that is saturated, a cast, or a table of observations;
    anything in between does not.

    ## Likely causes
    1. Observations are scaled up, so that the first layer's units are saturated: what they say is decided by the
       noise, and no gradient changes that. Confirm: print mean and deviation of what enters the first layer, and the
       share of its units near ±1.
    2. They are altered between acting and learning: cast to integers, rounded, clipped, overwritten. Confirm: compare
       the observation that was acted on with the one in a minibatch, number by number.
    3. What is fitted is the noise: a step size too large, rows too few, or a table with a row for every observation.
       Confirm: divide the learning rate by 10, and look again.

    ## What to try first
    Print mean and deviation of what enters the first layer, and of what leaves it.

    ## When it is fine
    Tabular agents, which cannot know that two observations are alike.

    ## References
    Jones, *Debugging RL, Without the Agonizing Pain* (probe environments).
    """

    code: ClassVar[str] = "PRE016"
    name: ClassVar[str] = "noise-drowns-observation"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Ladder"
    follows: ClassVar[tuple[str, ...]] = up_to("POL016")

    def check(self, evidence: Ladder) -> Iterator[Finding]:
        rung = evidence["noisy-observation"]
        if rung.outcome != "failed":
            return
        yield self.finding(
            "what tells the state is lost among numbers that tell nothing",
            **shown(rung),
            help="print mean and deviation of what enters the first layer, and of what leaves it",
            confidence=0.75,
        )
