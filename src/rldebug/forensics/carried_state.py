"""The state that a network with a memory is given beside the observation, in training and where it only plays."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import Event, Script
from rldebug.forensics.batches import Call, calls_of
from rldebug.forensics.node_places import begins
from rldebug.forensics.worlds import evaluation_streams


@dataclass(frozen=True, eq=False)
class Carried:
    event: Event
    norms: NDArray[np.float64]  # of the state at each step that is not the first of an episode


def carried_states(script: Script) -> Iterator[tuple[Carried, Carried]]:
    """For each network and each further input: while acting for training, and in evaluations."""
    played = evaluation_streams(script)
    found: dict[tuple[str, str, bool], tuple[Event, list[float]]] = {}
    for call in calls_of(script):
        if not call.event.get("acting"):
            continue
        for name in ("input1", "input2"):
            for stream, norm in _norms(call, name):
                key = (call.module, name, stream in played)
                found.setdefault(key, (call.event, []))[1].append(norm)
    for (module, name, evaluation), (event, norms) in found.items():
        trained = found.get((module, name, False))
        if evaluation and trained is not None:
            yield Carried(trained[0], np.array(trained[1])), Carried(event, np.array(norms))


def _norms(call: Call, name: str) -> Iterator[tuple[int, float]]:
    given, orders = call.event.arrays.get(name), call.event.arrays.get("orders")
    if given is None or given.dtype.kind != "f":
        return
    mine = np.ones(len(given), bool) if orders is None or len(orders) != len(given) else orders == call.order
    states = given[mine]
    if len(states) != len(call.rows):
        return
    for place, state in zip(call.audit.nodes.index(call.rows), states, strict=True):
        if place >= 0 and not begins(call.audit.nodes)[place]:
            yield int(call.audit.nodes.stream[place]), float(np.abs(state).max())
