"""The history that a network is given goes on over the ends of episodes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import UNKNOWN, Event, Nodes, Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.batches import Call, acting
from rldebug.forensics.node_places import after, begins
from rldebug.rule import NotEnough, Rule

Stacks = tuple[NDArray[Any], NDArray[Any]]


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
        calls = list(acting(evidence))
        for final in (False, True):
            found = self._leaked(calls, final=final)
            if found is not None:
                yield self._said(*found)
                return

    def _leaked(self, calls: list[Call], *, final: bool) -> tuple[int, int, Event] | None:
        """final: the last observation of an episode, which is not acted on, is put into the history as well."""
        right = within = leaked = beyond = 0
        audits: set[int] = set()
        example: Event | None = None
        for call in calls:
            found = _frames(call, final=final)
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
        return None if leaked < self.share * beyond else (leaked, beyond, example)

    def _said(self, leaked: int, beyond: int, example: Event) -> Finding:
        return self.finding(
            "the history that the network is given goes on over the ends of episodes",
            where=example.where,
            seen=f"{leaked} of {beyond} frames before the beginning of an episode are those of the episode before",
            expected="the first observation, or zeros, until the history is full again",
            help="fill the history anew wherever an episode begins",
            confidence=0.95,
        )


def _frames(call: Call, *, final: bool) -> tuple[NDArray[np.bool_], NDArray[np.bool_]] | None:
    """Of each older observation in a stack: whether the episode began after it, and whether it is what came before."""
    found = _by_numbers(call) or _by_looks(call)
    if found is None:
        return None
    stacks, looks = found
    nodes = call.audit.nodes
    before, first = _before(nodes, final=final), begins(nodes)
    beyond, held = [], []
    for stack, place in zip(stacks, call.places.tolist(), strict=True):
        here, begun, start = place, False, place
        for frame in stack[-2::-1]:
            begun, start = (True, here) if first[here] and not begun else (begun, start)
            here = int(before[here])
            if here == UNKNOWN:
                break
            seen = looks[here]
            if begun and _same(seen, looks[start]):
                continue  # it looks like the beginning itself
            beyond.append(begun)
            held.append(bool(_same(frame, seen)))
    return np.array(beyond, dtype=bool), np.array(held, dtype=bool)


def _by_numbers(call: Call) -> Stacks | None:
    """Stacks as the network is given them, oldest first, and every observation."""
    nodes, given = call.audit.nodes, call.input
    width = nodes.obs.shape[1]
    if given is None or width < 1 or given.shape[1] % width or not 2 <= given.shape[1] // width <= 64:
        return None
    return _oldest_first(call, given.reshape(len(given), -1, width), nodes.obs)


def _by_looks(call: Call) -> Stacks | None:
    """The same of pictures, of which range, mean and hash are kept."""
    nodes = call.audit.nodes
    if call.frames is None or nodes.obs_stats.shape[1] < 5 or not 2 <= call.frames.shape[1] <= 64:
        return None
    prints = nodes.obs_stats[:, 4]
    numbers = np.unique(prints, return_inverse=True)[1].astype(np.float64)
    looks = np.where(prints > 0, np.ravel(numbers), np.nan)[:, None]
    places = nodes.index(call.frames.ravel())
    stacks = np.append(looks, [[np.nan]], axis=0)[places].reshape(*call.frames.shape, 1)  # an unknown one is the last
    return _oldest_first(call, stacks, looks)


def _oldest_first(call: Call, stacks: NDArray[Any], looks: NDArray[Any]) -> Stacks | None:
    if not call.known.all():
        return None
    for turned in (stacks, stacks[:, ::-1]):
        if _same(turned[:, -1], looks[call.places]).all():
            return turned, looks
    return None


def _same(one: NDArray[Any], other: NDArray[Any]) -> NDArray[np.bool_]:
    return np.asarray((np.abs(one - other) <= 1e-5 * (1.0 + np.abs(other))).all(axis=-1))


def _before(nodes: Nodes, *, final: bool) -> NDArray[np.int64]:
    """The step before each, in its lane; before a reset the last that was acted on, or where that one led."""
    onward, led = after(nodes), nodes.index(nodes.nxt)
    found = np.full(len(nodes), UNKNOWN, dtype=np.int64)
    known = (onward >= 0) & nodes.acted & ~nodes.phantom
    found[onward[known]] = np.flatnonzero(known)
    if final:
        over = known & (led >= 0) & (led != onward)
        found[onward[over]] = led[over]
        found[led[over]] = np.flatnonzero(over)
    return found
