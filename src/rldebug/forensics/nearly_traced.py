"""Rows of a loss that are no observation that was acted on, but all but one: normalised by statistics that have moved.

The step whose input lies nearest is the row's, where the next nearest lies many times as far away. A picture that was
cut or mirrored at random lies near none.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import Audit, Event, Script
from rldebug.forensics.batches import Call, acting, learning, recurrent

_UNTRACED = 0.9  # share of the rows of a call
_STEPS = 32  # that were acted, for rows to be compared with
_NEAR = 0.1  # in deviations of the input
_NEXT = 0.25  # of the way to the next nearest


@dataclass(frozen=True, eq=False)
class Nearly:
    """Rows of one loss that lie near a step, with the actions that the loss has for them."""

    audit: Audit
    term: Event
    places: NDArray[np.int64]
    action: NDArray[np.float64]
    rows: int  # of the loss, near a step or not


@lru_cache(maxsize=8)
def nearly_traced(script: Script) -> tuple[Nearly, ...]:
    return tuple(_found(script))


def _found(script: Script) -> Iterator[Nearly]:
    acted = _acted(script)
    for call in learning(script):
        given = acted.get((call.audit.number, call.module))
        if given is None or call.input is None or len(call.rows) < 8 or call.known.mean() > 1.0 - _UNTRACED:
            continue
        if recurrent(script, call.module) or call.input.shape[1:] != given[1].shape[1:] or call.event["match"] == "tag":
            continue
        told = _actions(call)
        if told is None:
            continue
        term, action = told
        nearest, near = _nearest(call.input, given[1])
        yield Nearly(call.audit, term, given[0][nearest[near]], action[near], len(call.rows))


def _acted(script: Script) -> dict[tuple[int, str], tuple[NDArray[np.int64], NDArray[np.float64]]]:
    """By audit and network: places of the steps, and what it was given there."""
    places: dict[tuple[int, str], list[NDArray[np.int64]]] = {}
    inputs: dict[tuple[int, str], list[NDArray[np.float64]]] = {}
    for call in acting(script):
        if call.input is None or len(call.input) != len(call.rows):
            continue
        nodes = call.audit.nodes
        keep = call.known & np.where(call.known, nodes.acted[call.places] & ~nodes.phantom[call.places], False)
        places.setdefault((call.audit.number, call.module), []).append(call.places[keep])
        inputs.setdefault((call.audit.number, call.module), []).append(call.input[keep])
    found = {}
    for key, each in places.items():
        if sum(map(len, each)) >= _STEPS and len({one.shape[1] for one in inputs[key]}) == 1:
            found[key] = (np.concatenate(each), np.concatenate(inputs[key]))
    return found


def _actions(call: Call) -> tuple[Event, NDArray[np.float64]] | None:
    for term in call.audit.terms("policy"):
        chosen = term.arrays.get("index", term.arrays.get("action"))
        mine = term.order > call.order and term.update == call.update
        if mine and chosen is not None and len(chosen) == len(call.rows):
            return term, np.asarray(chosen, dtype=np.float64).reshape(len(chosen), -1)
    return None


def _nearest(rows: NDArray[np.float64], steps: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Of each row the nearest step, and whether it is near, and nearer than all others by far."""
    spread = steps.std(axis=0)
    moves = spread > 1e-6
    if not moves.any():
        return np.zeros(len(rows), dtype=np.int64), np.zeros(len(rows), dtype=bool)
    mine, theirs = rows[:, moves] / spread[moves], steps[:, moves] / spread[moves]
    nearest = np.zeros(len(rows), dtype=np.int64)
    near = np.zeros(len(rows), dtype=bool)
    for row, each in enumerate(mine):
        away = np.abs(theirs - each).max(axis=1)
        best = int(away.argmin())
        others = away[np.abs(theirs - theirs[best]).max(axis=1) > 1e-6]
        nearest[row] = best
        near[row] = away[best] < _NEAR and (not len(others) or away[best] < _NEXT * float(others.min()))
    return nearest, near
