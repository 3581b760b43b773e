"""The pictures are blank, or always the same."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.roles import roles_of
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class FramesBlank(Rule):
    """The pictures are blank, or always the same.

    ## What it checks
    Of the observations with two axes or more that the program was handed: the share in which all elements are equal,
    the share that equals the one before, and, of stacks of frames, the share in which all frames are equal.

    ## Why it matters
    There is nothing to see in a blank picture, no motion in a stack of equal frames.

    ## Likely causes
    1. Scaling to 0 … 1 and casting to bytes afterwards. Confirm: print the largest element of a picture.
    2. A crop outside of where anything moves. Confirm: look at one picture.
    3. All frames of the stack are one and the same array. Confirm: `frames[0] is frames[1]`.

    ## What to try first
    Save ten successive observations as pictures, and look at them.

    ## When it is fine
    Nothing that is known of.

    ## References
    Seen in the wild: PRE-07 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "PRE305"
    name: ClassVar[str] = "frames-blank"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "shared"

    looked: int = 64  # observations
    share: float = 0.95  # of them that are blank, or equal to the one before, or stacks of equal frames

    def check(self, evidence: Script) -> Iterator[Finding]:
        stream = roles_of(evidence).stream
        if stream is None or stream >= len(evidence.streams):
            return
        thing = evidence.streams[stream]
        shape, obs = thing.get("shape") or (), thing.get("obs") or {}
        if len(shape) < 2:
            return
        if int(obs.get("looked") or 0) < self.looked:
            raise NotEnough(f"{obs.get('looked') or 0} observations were looked at")
        blank, repeated = float(obs.get("blank") or 0), float(obs.get("repeated") or 0)
        frames = thing.get("frames") or {}
        length, equal = int(frames.get("length") or 0), int(frames.get("equal") or 0)
        told = ""
        if blank >= self.share:
            told = f"all elements are equal in {blank:.0%} of the observations"
        elif repeated >= self.share:
            told = f"{repeated:.0%} of the observations are equal to the one before"
        elif length != 3 and equal >= max(self.share * int(frames.get("looked") or 0), self.looked):
            # Three equal channels are a grey picture in colour.
            told = f"all {length} frames are equal in {equal} of {frames['looked']} observations"
        if told:
            yield self.finding(
                "there is nothing to see in the pictures",
                seen=told,
                expected="pictures that differ from place to place, and from step to step",
                help="save some observations as pictures and follow them from the environment through its wrappers",
                confidence=0.95,
            )
