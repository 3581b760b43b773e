"""The memory of a recurrent network goes on over the ends of episodes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import Audit, Event, Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.batches import recurrent
from rldebug.forensics.node_places import begins
from rldebug.forensics.worlds import evaluation_streams
from rldebug.rule import NotEnough, Rule

_STATES = ("input1", "input2")  # an LSTM has two
_STATE = 4  # numbers that a state has at least: fewer may be an action, or a flag


@dataclass(frozen=True, kw_only=True)
class MemoryNeverEmptied(Rule):
    """The memory of a recurrent network goes on over the ends of episodes.

    ## What it checks
    The state that a recurrent network is given with the first observation of an episode, while acting: whether it is
    that of the episode before, in nearly all episodes. Only networks that are given an observation and states, and
    nothing that could tell them to forget.

    ## Why it matters
    What is remembered belongs to another episode. It is noise in the first steps, and where it is learned from, the
    gradient goes to the wrong episode.

    ## Likely causes
    1. The state is made anew before training only, or at the start of each rollout. Confirm: print its norm in the
       first step of each episode.

    ## What to try first
    Set the state to zeros wherever the environment is reset.

    ## When it is fine
    Tasks in which something of the last episode is to be remembered: learning to learn.

    ## References
    Seen in the wild: the cluster "recurrent state reset" of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "BUF369"
    name: ClassVar[str] = "memory-never-emptied"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"

    episodes: int = 16  # whose first state was seen
    share: float = 0.9  # of them that begin with a state of their own

    def check(self, evidence: Script) -> Iterator[Finding]:
        flagged = _flagged(evidence)
        found = [found for name in _STATES for found in self._of(evidence, name, flagged)]
        if not found:
            raise NotEnough(f"states that a recurrent network began an episode with, needs {self.episodes}")
        kept, total, example = max(found, key=lambda each: each[0] / each[1])
        if kept < self.share * total:
            return
        yield self.finding(
            "the memory goes on from one episode to the next",
            where=example.where,
            seen=f"a state that is not empty in the first step of {kept} of {total} episodes",
            expected="an empty state wherever an episode begins",
            help="set the state to zeros wherever the environment is reset",
            confidence=0.8,
        )

    def _of(self, evidence: Script, name: str, flagged: set[str]) -> Iterator[tuple[int, int, Event]]:
        """Of one of the two states that a cell may have: how many are kept, of how many."""
        kept = total = 0
        example: Event | None = None
        for audit in evidence.audits:
            begun: dict[int, NDArray[np.float64]] = {}  # by the node: what follows a step may be valued first
            for event in audit.acting:
                states = _states(event, name)
                if states is not None and event["module"] not in flagged and recurrent(evidence, str(event["module"])):
                    first = _first(audit, event, evidence)[0]
                    begun.update(zip(event.arrays["rows"][first].tolist(), states[first], strict=True))
                    example = example or event
            widths = {len(each) for each in begun.values()}
            together = np.unique(list(begun.values()), axis=0) if len(widths) == 1 else ()
            if len(together) > 1 or len(begun) > 1:
                # One and the same state in all of them is empty, or where the network was taught to begin.
                total += len(begun)
                kept += len(together) if len(together) > 1 else 0
        if total >= self.episodes and example is not None:
            yield kept, total, example


def _states(event: Event, name: str = "input1") -> NDArray[np.float64] | None:
    """Of each row, where the network is given nothing beside the observation and states of one width."""
    state, given = event.arrays.get(name), event.arrays.get("input")
    inputs = [each for each in event.get("inputs") or () if each.get("shape")]
    if state is None or given is None or state.ndim != 2 or state.dtype.kind != "f" or state.shape[1] < _STATE:
        return None
    if not 2 <= len(inputs) <= 3 or any(each["shape"][-1] != state.shape[1] for each in inputs[1:]):
        return None
    return state.astype(np.float64) if len(state) == len(given) == len(event.arrays["rows"]) else None


def _first(audit: Audit, event: Event, script: Script) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Rows that begin an episode of training, but for the first of all; and the other rows."""
    nodes = audit.nodes
    places = nodes.index(event.arrays["rows"])
    known = (places >= 0) & ~np.isin(nodes.stream[places], list(evaluation_streams(script)))
    first = begins(nodes)[places]
    return known & first & (nodes.call[places] > 1), known & ~first


def _flagged(script: Script) -> set[str]:
    """Networks whose input says by itself where an episode begins: they may forget by themselves."""
    begins: dict[str, list[NDArray[np.float64]]] = {}
    within: dict[str, list[NDArray[np.float64]]] = {}
    for audit in script.audits:
        for event in audit.acting:
            if _states(event) is not None:
                first, other = _first(audit, event, script)
                given = event.arrays["input"].reshape(len(first), -1)
                begins.setdefault(str(event["module"]), []).append(given[first])
                within.setdefault(str(event["module"]), []).append(given[other])
    return {each for each in begins if _told(begins[each], within[each])}


def _told(begins: list[NDArray[np.float64]], within: list[NDArray[np.float64]]) -> bool:
    if len({each.shape[1] for each in begins + within}) != 1:
        return False
    one, two = np.concatenate(begins), np.concatenate(within)
    if not len(one) or not len(two):
        return False
    flags = (one == one[0]).all(axis=0) & (two == two[0]).all(axis=0) & (one[0] != two[0])
    return bool(flags.any())
