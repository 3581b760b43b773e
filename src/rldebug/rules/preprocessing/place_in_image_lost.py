"""Where something is in a picture is not seen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.ladder import Ladder
from rldebug.evidence.ladder_signs import shown, up_to
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class PlaceInImageLost(Rule):
    """Where something is in a picture is not seen.

    ## What it checks
    A picture with one bright square: where it is tells what to do, and is not learned.

    ## Why it matters
    All that a screen tells is where things are.

    ## Likely causes
    1. Axes are swapped or reshaped instead of transposed. Confirm: look at what enters the first layer, as a picture.
    2. Pixels are averaged, or cropped, before the network. Confirm: the same.
    3. Pixels are scaled to nothing, or not at all. Confirm: print their smallest and largest number behind the
       preprocessing.

    ## What to try first
    Look at what enters the first layer, as a picture.

    ## When it is fine
    Never.

    ## References
    Mnih and others, *Human-level control through deep reinforcement learning* (preprocessing).
    """

    code: ClassVar[str] = "PRE012"
    name: ClassVar[str] = "place-in-image-lost"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Ladder"
    follows: ClassVar[tuple[str, ...]] = up_to("POL016")

    def check(self, evidence: Ladder) -> Iterator[Finding]:
        rung = evidence["bright-pixel"]
        if rung.outcome != "failed":
            return
        yield self.finding(
            "where something is in a picture is not seen",
            **shown(rung),
            help="feed two pictures with the bright spot in different places, and compare the output of every layer",
            confidence=0.8,
        )
