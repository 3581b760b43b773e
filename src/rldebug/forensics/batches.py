"""Batches: single calls of networks, taken out of merged events, and what their rows are to each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import UNKNOWN, Audit, Event, Nodes, Script
from rldebug.forensics.roles import roles_of


@dataclass(frozen=True, eq=False)
class Call:
    """One call of a network: its rows, its input, and when it was."""

    audit: Audit
    event: Event
    order: int
    update: int  # optimizer steps before it
    at: int | None  # env calls before it; None where that was not recorded
    rows: NDArray[np.int64]
    places: NDArray[np.int64]  # of the rows, among the audit's nodes
    input: NDArray[np.float64] | None
    stats: NDArray[np.float64] | None  # of a wide input: min, max, mean, std of each row
    frames: NDArray[np.int64] | None = None  # the observations in each stack, where a row is one, while it acts
    more: tuple[NDArray[np.float64], ...] = ()  # what was given beside it: other parts of the observation, an action

    @property
    def module(self) -> str:
        return str(self.event["module"])

    @cached_property
    def known(self) -> NDArray[np.bool_]:
        return self.places >= 0


@lru_cache(maxsize=8)
def calls_of(script: Script) -> tuple[Call, ...]:
    """Every call that was recorded, one by one and in order."""
    return tuple(sorted((call for audit in script.audits for event in audit.calls for call in _split(audit, event)),
                        key=lambda each: (each.audit.number, each.order)))  # fmt: skip


def _split(audit: Audit, event: Event) -> Iterator[Call]:
    rows = event.arrays.get("rows")
    if rows is None:
        return
    orders, count = event.arrays.get("orders"), len(rows)
    places = audit.nodes.index(rows)  # of all at once: a program that acts step by step makes thousands of calls
    if orders is None or len(orders) != count or not count:
        yield _call(audit, event, places, slice(0, count), event.order, event.update, event.call)
        return
    updates, at = event.arrays.get("updates"), event.arrays.get("at")
    starts = np.flatnonzero(np.r_[True, orders[1:] != orders[:-1]])
    for start, end in zip(starts, np.r_[starts[1:], count], strict=True):
        yield _call(
            audit, event, places, slice(int(start), int(end)), int(orders[start]),
            event.update if updates is None else int(updates[start]), None if at is None else int(at[start]),
        )  # fmt: skip


def _call(
    audit: Audit, event: Event, places: NDArray[np.int64], part: slice, order: int, update: int, at: int | None
) -> Call:
    def of(name: str) -> NDArray[np.float64] | None:
        array = event.arrays.get(name)
        return None if array is None or array.ndim != 2 else np.asarray(array[part], dtype=np.float64)

    frames = event.arrays.get("frames")
    stacks = None if frames is None or len(frames) != len(event.arrays["rows"]) else frames[part]
    more = tuple(each for each in map(of, ("input1", "input2")) if each is not None)
    rows = event.arrays["rows"][part]
    return Call(audit, event, order, update, at, rows, places[part], of("input"), of("input_stats"), stacks, more)


def learning(script: Script) -> Iterator[Call]:
    """Calls that a network learns from: gradients on, not to act, owned by an optimizer, with a step after it."""
    last_step = {audit.number: max((each.order for each in audit.of("step")), default=-1) for audit in script.audits}
    for call in calls_of(script):
        event = call.event
        if not event["grad"] or event.get("acting") or call.order > last_step[call.audit.number]:
            continue
        if owned(script, call.module):
            yield call


def owned(script: Script, module: str) -> bool:
    """Whether an optimizer owns it, or the module it is a part of."""
    while module in script.modules:
        thing = script.modules[module]
        if thing.get("owners"):
            return True
        module = str(thing.get("inside"))
    return bool(script.owners(module))


def around(script: Script, name: str) -> set[str]:
    """The network and those that it is a part of."""
    found: set[str] = set()
    while name in script.modules and name not in found:
        found.add(name)
        name = str(script.modules[name].get("inside"))
    return found


def within(script: Script, name: str) -> set[str]:
    """The network and its parts, at any depth: a method of its own may call those, and never the whole."""
    return {name, *(each for each in script.modules if name in around(script, each))}


@lru_cache(maxsize=8)
def acting(script: Script, *, evaluation: bool = False) -> tuple[Call, ...]:
    """Calls on the current observations of the environment that is learned from; or of those that are not."""
    roles = roles_of(script)

    def is_one(call: Call) -> bool:
        if not call.event.get("acting"):
            return False
        places = call.places[call.known]
        if not len(places):
            return False
        stream = int(call.audit.nodes.stream[places[0]])
        return stream in roles.others if evaluation else stream == roles.stream

    return tuple(call for call in calls_of(script) if is_one(call))


def step_number(nodes: Nodes, places: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many env calls had been made when these observations came, of their own stream."""
    return np.where(places >= 0, nodes.call[places], UNKNOWN)


def ambiguous(nodes: Nodes, places: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Rows that are unknown, or equal to another observation, an older or a newer one."""
    return np.where(places >= 0, _twins(nodes)[places], True) if len(nodes) else np.ones(len(places), dtype=bool)


_TWINS: dict[int, tuple[Nodes, NDArray[np.bool_]]] = {}


def _twins(nodes: Nodes) -> NDArray[np.bool_]:
    kept = _TWINS.get(id(nodes))
    if kept is not None and kept[0] is nodes:
        return kept[1]
    twins: NDArray[np.bool_] = nodes.alike != 0
    if nodes.obs.shape[1]:
        rows = [each.tobytes() for each in nodes.obs + np.float32(0)]
        times = Counter(rows)
        blank = np.isnan(nodes.obs).all(axis=1)  # no longer remembered: its numbers say nothing
        twins = twins | (np.array([times[each] > 1 for each in rows], dtype=bool) & ~blank)
    if len(_TWINS) > 64:
        _TWINS.clear()
    _TWINS[id(nodes)] = (nodes, twins)
    return twins


def recurrent(script: Script, module: str) -> bool:
    """Whether it, or what it is a part of, has layers that look at several steps at once: rows are then no samples."""
    while module in script.modules:
        thing = script.modules[module]
        kinds = thing.get("layers") or {}
        if any(each in kinds for each in _SEQUENCES) or any(
            "ttention" in each or "ransformer" in each for each in kinds
        ):
            return True
        module = str(thing.get("inside"))
    return False


_SEQUENCES = ("LSTM", "GRU", "RNN", "LSTMCell", "GRUCell", "RNNCell")
