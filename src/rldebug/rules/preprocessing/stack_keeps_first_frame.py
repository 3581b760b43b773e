"""A stack of frames replaces its newest frame and keeps the oldest for ever."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.roles import roles_of
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class StackKeepsFirstFrame(Rule):
    """A stack of frames replaces its newest frame and keeps the oldest.

    ## What it checks
    Observations of several frames that are all equal when an episode begins: a stack that was filled with the first
    one. From step to step a single frame changes, at one end, and the others stay as they are; a stack moves them on
    by one place. Exact.

    ## Why it matters
    The network sees the newest frame beside the first one of the episode. How things move, which the stack is for,
    cannot be seen.

    ## Likely causes
    1. The wrong end is dropped: `frames[:-1] + [new]` in place of `frames[1:] + [new]`. Confirm: print which frames are
       equal after three steps.
    2. `frames[-1] = new` without moving the others. Confirm: the same.

    ## What to try first
    `deque(maxlen=k)` and `append`.

    ## When it is fine
    Where the first picture of the episode is meant to be seen all the time, as the picture of a goal.

    ## References
    Mnih et al. 2015, *Human-level control through deep reinforcement learning*.
    """

    code: ClassVar[str] = "PRE260"
    name: ClassVar[str] = "stack-keeps-first-frame"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "frames"

    episodes: int = 4  # first observations that were looked at
    filled: float = 0.9  # of them are of equal frames
    looked: int = 64  # other observations
    held: float = 0.55  # of them are the one before but for a frame at one end; where nothing moves, none changes
    moved: float = 0.35  # of them may move as a stack does: early on a stack of two does both

    def check(self, evidence: Script) -> Iterator[Finding]:
        stream = roles_of(evidence).stream
        if stream is None or stream >= len(evidence.streams):
            return
        frames = evidence.streams[stream].get("frames") or {}
        looked, begun, held = (int(frames.get(name) or 0) for name in ("looked", "begun", "held"))
        if begun < self.episodes or looked < self.looked:
            raise NotEnough(f"{looked} observations of several frames, in {begun} episodes")
        if int(frames["begun_equal"]) < self.filled * begun or int(frames["moved"]) > self.moved * looked:
            return
        if held >= self.held * looked:
            yield self.finding(
                "the stack of frames keeps the first frame of the episode, and replaces the newest",
                seen=f"in {held} of {looked} observations one frame is new and the {int(frames['length']) - 1} others "
                "are where they were; each episode begins with equal frames",
                expected="each frame one place further, and the oldest dropped",
                help="drop the oldest frame: frames[1:] + [new], or a deque with maxlen",
                confidence=0.93,
            )
