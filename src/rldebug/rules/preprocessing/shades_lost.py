"""Shades of grey are not told apart."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.ladder import Ladder
from rldebug.evidence.ladder_signs import shown, up_to
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class ShadesLost(Rule):
    """Shades of grey are not told apart.

    ## What it checks
    Pictures of one shade each: which one tells what to do, and is not learned.

    ## Why it matters
    Bytes overflow, and integer division cuts off: what is left may be black or white.

    ## Likely causes
    1. Pixels are divided as integers, or before they become floats. Confirm: count the different numbers behind the
       preprocessing.
    2. They are scaled twice, or not at all. Confirm: print their smallest and largest number.
    3. A difference of frames, or a normaliser per picture, takes the shade away. Confirm: feed two even pictures, and
       compare.

    ## What to try first
    Print the smallest and largest number behind the preprocessing, and how many different ones there are.

    ## When it is fine
    Where pictures are normalised one by one on purpose.

    ## References
    See `image-not-scaled` and `image-scaled-twice`.
    """

    code: ClassVar[str] = "PRE014"
    name: ClassVar[str] = "shades-lost"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Ladder"
    follows: ClassVar[tuple[str, ...]] = (*up_to("POL016"), "PRE012")

    def check(self, evidence: Ladder) -> Iterator[Finding]:
        rung = evidence["uint8-range"]
        if rung.outcome != "failed":
            return
        yield self.finding(
            "shades of grey are not told apart",
            **shown(rung),
            help="print how many different numbers there are behind the preprocessing, the smallest and the largest",
            confidence=0.8,
        )
