"""Colours are not told apart."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.ladder import Ladder
from rldebug.evidence.ladder_signs import shown, up_to
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class ChannelsMixedUp(Rule):
    """Colours are not told apart.

    ## What it checks
    Pictures of one colour each, channels last: which colour tells what to do, and is not learned.

    ## Why it matters
    A network that takes width for channels, or grey for colour, sees something; it is not what was shown.

    ## Likely causes
    1. Channels-last pictures are taken for channels-first ones, or reshaped instead of transposed. Confirm: look at
       what enters the first layer, channel by channel.
    2. Colours are averaged to grey, and are equally bright. Confirm: print the grey of each colour.

    ## What to try first
    Look at what enters the first layer, channel by channel, for a red and a blue picture.

    ## When it is fine
    Where pictures are made grey on purpose, and colours tell nothing in the task.

    ## References
    Gymnasium, `GrayscaleObservation`; torch, channels-first layout.
    """

    code: ClassVar[str] = "PRE013"
    name: ClassVar[str] = "channels-mixed-up"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Ladder"
    follows: ClassVar[tuple[str, ...]] = (*up_to("POL016"), "PRE012")

    def check(self, evidence: Ladder) -> Iterator[Finding]:
        rung = evidence["channel-order"]
        if rung.outcome != "failed":
            return
        yield self.finding(
            "colours are not told apart",
            **shown(rung),
            help="look at what enters the first layer channel by channel, for a red and a blue picture",
            confidence=0.8,
        )
