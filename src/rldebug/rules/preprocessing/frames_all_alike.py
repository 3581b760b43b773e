"""A stack of several observations holds the newest one several times."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.worlds import Stream, fact, name_of, training_streams
from rldebug.rule import NotEnough, Rule

_LONGEST = 8
_COLOURS = (3, 4)  # channels of a grey picture that was made a coloured one are alike, too


@dataclass(frozen=True, kw_only=True)
class FramesAllAlike(Rule):
    """All frames of a stack are one and the same.

    ## What it checks
    Observations that fall into two to eight parts of the same length, within an environment that has wrappers: at every
    step all parts are equal to the last digit, though what they hold changes from step to step. Exact. The same of
    pictures whose frames lie behind one another.

    ## Why it matters
    Frames are stacked so that the network can see what moves. It is shown several times the same instead, and cannot.

    ## Likely causes
    1. The environment hands out one array and overwrites it at the next step; the wrapper keeps references to it.
       Confirm: `a = env.step(x)[0]; b = env.step(x)[0]; print(a is b)`.
    2. The wrapper fills the whole stack with the newest frame at each step. Confirm: print what its `step` appends.

    ## What to try first
    Let the environment return a copy: `return self._obs.copy()`.

    ## When it is fine
    Where the wrapped environment shows something several times on purpose.

    ## References
    Gymnasium documentation, *FrameStackObservation*, which copies what it is given.
    """

    code: ClassVar[str] = "PRE271"
    name: ClassVar[str] = "frames-all-alike"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "frames"

    steps: int = 100  # observations that a step led to
    moving: float = 0.5  # of the steps change what is shown

    def check(self, evidence: Script) -> Iterator[Finding]:
        most = 0
        for stream in training_streams(evidence):
            if not fact(stream, "wrappers"):
                continue
            wide, seen = self._pictures(stream)
            if not seen:
                rows, last = _reached(evidence, int(stream["index"]))
                seen = len(rows)
                wide = _parts(rows, last, self.moving) if seen >= self.steps else 0
            most = max(most, seen)
            if seen < self.steps or not wide:
                continue
            yield self.finding(
                f"the {wide} observations that {name_of(stream)} stacks are one and the same",
                seen=f"in all of {seen} observations that a step led to, {wide} equal parts behind one another, though "
                "they change from step to step",
                expected="observations of several moments",
                help="return a copy of the array from the environment, and keep copies in the wrapper",
                confidence=0.93,
            )
            return
        if most < self.steps:
            raise NotEnough(f"{most} observations that a step led to, of an environment with wrappers")

    def _pictures(self, stream: Stream) -> tuple[int, int]:
        """How many frames are alike, and how many pictures were looked at."""
        frames, obs = stream.get("frames") or {}, stream.get("obs") or {}
        looked, length = int(frames.get("looked") or 0), int(frames.get("length") or 0)
        if not obs.get("wide") or length in _COLOURS:
            return 0, 0
        still = float(obs.get("repeated") or 0.0) > 1 - self.moving or float(obs.get("blank") or 0.0) > 1 - self.moving
        return (length if looked and int(frames["equal"]) == looked and not still else 0), looked


def _reached(script: Script, stream: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Observations that a step led to, beside those that it was taken from."""
    seen: dict[int, tuple[NDArray[np.float32], NDArray[np.float32]]] = {}
    for audit in script.audits:
        nodes = audit.nodes
        if not nodes.obs.shape[1]:
            continue
        places = np.flatnonzero((nodes.stream == stream) & nodes.acted & ~nodes.phantom)
        reached = nodes.index(nodes.nxt[places])
        for here, there in zip(places[reached >= 0].tolist(), reached[reached >= 0].tolist(), strict=True):
            if not (np.isnan(nodes.obs[here]).any() or np.isnan(nodes.obs[there]).any()):
                seen[int(nodes.id[there])] = nodes.obs[there], nodes.obs[here]
    of = len(next(iter(seen.values()))[0]) if seen else 0
    kept = [each for each in seen.values() if len(each[0]) == of]
    if not kept:
        return np.empty((0, 0), np.float32), np.empty((0, 0), np.float32)
    return np.stack([each for each, _ in kept]), np.stack([each for _, each in kept])


def _parts(rows: NDArray[np.float32], before: NDArray[np.float32], moving: float) -> int:
    """In how many equal parts of at least two numbers that move they fall; 0 where they do not."""
    width = rows.shape[1]
    if not (rows != before).any(axis=1).mean() >= moving:
        return 0
    for parts in range(_LONGEST, 1, -1):
        size = width // parts
        if width % parts or size < 2:
            continue
        frames = rows.reshape(len(rows), parts, size)
        varied = (np.ptp(frames[:, 0], axis=0) > 0).sum() >= 2
        if varied and bool((frames == frames[:, :1]).all()):
            return parts
    return 0
