"""Frames are stacked, and motion is not seen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.ladder import Ladder
from rldebug.evidence.ladder_signs import shown, up_to
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class MotionNotSeen(Rule):
    """Frames are stacked, and motion is not seen.

    ## What it checks
    A dot moves one way or the other, which only two frames tell: the action that says which is not learned.

    ## Why it matters
    Speed and direction are in the difference of frames: a stack of one frame twice has none.

    ## Likely causes
    1. One frame is stacked with itself: overwritten in place, or copied over the others. Confirm: compare the frames
       of one stack.
    2. Frames are in another order when acting than when learning. Confirm: the same, for a row of a minibatch.
    3. The stack is not cleared where an episode ends. Confirm: look at the first stack of an episode.

    ## What to try first
    Look at the stack that enters the network in the second step of an episode, frame by frame.

    ## When it is fine
    Never, where frames are said to be stacked.

    ## References
    Mnih and others, *Human-level control through deep reinforcement learning* (frame stacking).
    """

    code: ClassVar[str] = "PRE015"
    name: ClassVar[str] = "motion-not-seen"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Ladder"
    follows: ClassVar[tuple[str, ...]] = (*up_to("POL016"), "PRE012")

    def check(self, evidence: Ladder) -> Iterator[Finding]:
        rung = evidence["moving-dot"]
        if rung.outcome != "failed":
            return
        yield self.finding(
            "frames are stacked, and motion is not seen",
            **shown(rung),
            help="look at the stack that enters the network in the second step of an episode, frame by frame",
            confidence=0.8,
        )
