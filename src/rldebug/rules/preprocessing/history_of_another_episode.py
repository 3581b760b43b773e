"""The history that a network is given goes on over the ends of episodes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import UNKNOWN, Event, Nodes, Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.batches import Call, acting
from rldebug.forensics.node_places import after, begins
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class HistoryOfAnotherEpisode(Rule):
    """The history that a network is given goes on over the ends of episodes.

    ## What it checks
    A network acts on the last few observations at once. Within an episode they are the ones that came before. In the
    first steps of an episode the older ones are still those of the episode before.

    ## Why it matters
    What is seen there belongs to another episode, with another start and perhaps another goal. A speed that is read off
    two frames is that of a jump.

    ## Likely causes
    1. The stack is emptied before the first episode only. Confirm: print it after a reset.
    2. In a vector of environments that reset themselves, the lanes that have just ended are not filled anew. Confirm:
       print the stack of one lane around the end of an episode.

    ## What to try first
    Fill the stack with the first observation, or with zeros, wherever an episode begins.

    ## When it is fine
    Where something of the last episode is to be remembered: learning to learn.

    ## References
    See also `frames-of-last-episode`: the same, of stacks that the environment hands out.
    """

    code: ClassVar[str] = "PRE330"
    name: ClassVar[str] = "history-of-another-episode"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"

    frames: int = 24  # beyond the beginning of an episode
    share: float = 0.9  # of them that are of the episode before
    within: float = 0.95  # of the others that are what came before

    def check(self, evidence: Script) -> Iterator[Finding]:
        right = within = leaked = beyond = 0
        audits: set[int] = set()
        example: Event | None = None
        for call in acting(evidence):
            found = _frames(call)
            if found is None:
                continue
            within += int((~found[0]).sum())
            right += int((~found[0] & found[1]).sum())
            beyond += int(found[0].sum())
            leaked += int((found[0] & found[1]).sum())
            if found[0].any():
                audits.add(call.audit.number)
            example = example or call.event
        if example is None or beyond < self.frames or len(audits) < 2 or right < self.within * within:
            raise NotEnough(
                f"{beyond} observations beyond the beginning of an episode in a history, needs {self.frames}"
            )
        if leaked < self.share * beyond:
            return
        yield self.finding(
            "the history that the network is given goes on over the ends of episodes",
            where=example.where,
            seen=f"{leaked} of {beyond} frames before the beginning of an episode are those of the episode before",
            expected="the first observation, or zeros, until the history is full again",
            help="fill the history anew wherever an episode begins",
            confidence=0.95,
        )


def _frames(call: Call) -> tuple[NDArray[np.bool_], NDArray[np.bool_]] | None:
    """Of each older observation in a stack: whether the episode began after it, and whether it is what came before."""
    nodes, given = call.audit.nodes, call.input
    width = nodes.obs.shape[1]
    if given is None or width < 1 or given.shape[1] % width or not 2 <= given.shape[1] // width <= 64:
        return None
    stacks = given.reshape(len(given), -1, width)
    if not call.known.all():
        return None
    if not _same(stacks[:, -1], nodes.obs[call.places]).all():
        stacks = stacks[:, ::-1]
        if not _same(stacks[:, -1], nodes.obs[call.places]).all():
            return None
    before, first = _before(nodes), begins(nodes)
    beyond, held = [], []
    for stack, place in zip(stacks, call.places.tolist(), strict=True):
        here, begun, start = place, False, place
        for frame in stack[-2::-1]:
            begun, start = (True, here) if first[here] and not begun else (begun, start)
            here = int(before[here])
            if here == UNKNOWN:
                break
            seen = nodes.obs[here]
            if begun and _same(seen, nodes.obs[start]):
                continue  # it looks like the beginning itself
            beyond.append(begun)
            held.append(bool(_same(frame, seen)))
    return np.array(beyond, dtype=bool), np.array(held, dtype=bool)


def _same(one: NDArray[np.float64], other: NDArray[np.float32]) -> NDArray[np.bool_]:
    return np.asarray((np.abs(one - other) <= 1e-5 * (1.0 + np.abs(other))).all(axis=-1))


def _before(nodes: Nodes) -> NDArray[np.int64]:
    """The step before each, in its lane; the last that was acted on before a reset."""
    onward = after(nodes)
    found = np.full(len(nodes), UNKNOWN, dtype=np.int64)
    known = (onward >= 0) & nodes.acted & ~nodes.phantom
    found[onward[known]] = np.flatnonzero(known)
    return found
