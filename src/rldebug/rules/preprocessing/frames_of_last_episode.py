"""A new episode begins with pictures of the last one in its stack."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.roles import roles_of
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class FramesOfLastEpisode(Rule):
    """New episodes begin with frames of the last one in the stack.

    ## What it checks
    Observations that are stacks of frames, told by how they move from step to step. The first observation of an episode
    is the last one of the episode before, moved by one frame. Exact.

    ## Why it matters
    The first steps of every episode are acted and learned on a motion that never was.

    ## Likely causes
    1. The wrapper's `reset` appends the first frame and does not empty the stack. Confirm: print the stack after a
       reset.
    2. `reset` of the wrapper is not called, only that of the environment inside. Confirm: the same.

    ## What to try first
    Fill the whole stack with the first frame in `reset`.

    ## When it is fine
    Lives that end an episode for the learner only, while the game goes on; the pictures do go on there.

    ## References
    Machado et al., *Revisiting the Arcade Learning Environment*.
    Seen in the wild: BUF-03 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "PRE306"
    name: ClassVar[str] = "frames-of-last-episode"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "frames"

    episodes: int = 4  # first observations that were looked at
    share: float = 0.9  # of them that go on where the last episode ended
    moved: float = 0.5  # of the other observations that move as a stack does

    def check(self, evidence: Script) -> Iterator[Finding]:
        stream = roles_of(evidence).stream
        if stream is None or stream >= len(evidence.streams):
            return
        frames = evidence.streams[stream].get("frames") or {}
        looked, begun = int(frames.get("looked") or 0), int(frames.get("begun") or 0)
        if not frames or int(frames["moved"]) < self.moved * looked:
            return
        if begun <= self.episodes:
            raise NotEnough(f"{begun} first observations of episodes")
        carried = int(frames["carried"])
        if carried >= self.share * (begun - 1):  # before the first episode there was none
            yield self.finding(
                "new episodes begin with frames of the last one in the stack",
                seen=f"{carried} of {begun} first observations continue the stack of the episode before",
                expected="a stack of the first frame only",
                help="fill the whole stack with the first frame when the environment is reset",
                confidence=0.93,
            )
