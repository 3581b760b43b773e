"""Memories: the state that a recurrent cell is given for an observation, while acting and while learning.

Before the first step of the optimizer the weights are those of the acting. Then the state of an observation is the same
number for number, if the sequence begins with the stored one, or after a reset: both sides can be held against each
other, row by row. A network may be given the state as it is, and a flag that says where it is to be emptied. Then the
flags differ where it is given the same observation and the same state, and says something else.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import Audit, Event, Script
from rldebug.forensics.node_places import begins


@dataclass(frozen=True, eq=False)
class Memories:
    """How often, by (kind of row, place in the sequence, how the two states stand to each other)."""

    audits: int
    counts: Counter[tuple[str, str, str]]  # (begins, ends, within) × (start, later) × (same, empty, kept, other)
    example: Event | None
    said: Counter[tuple[str, bool]]  # kind of row with the same state, and whether the network says the same

    def of(self, kinds: tuple[str, ...], place: str) -> Counter[str]:
        found: Counter[str] = Counter()
        for (kind, at, how), count in self.counts.items():
            if kind in kinds and at == place:
                found[how] += count
        return found

    def flagged(self, kind: str, least: int) -> tuple[int, int]:
        """Rows of a kind that are given the same state and another flag, and how many could be told. 0 where the
        network says something else of other rows too."""
        within, other = self.said["within", True], self.said["within", False]
        if within < 4 * least or other > 0.03 * within:
            return 0, 0
        return self.said[kind, False], self.said[kind, False] + self.said[kind, True]


@lru_cache(maxsize=8)
def memories(script: Script) -> Memories:
    counts: Counter[tuple[str, str, str]] = Counter()
    said: Counter[tuple[str, bool]] = Counter()
    audits, example = set(), None
    for audit in script.audits:
        acting = _acting(audit)
        for event in audit.calls if acting else ():
            found = _compared(audit, event, acting, said)
            if found:
                counts += found
                audits.add(audit.number)
                example = example or event
    return Memories(len(audits), counts, example, said)


def _state(event: Event) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]] | None:
    arrays = event.arrays
    rows, state = arrays.get("rows"), arrays.get("begun", arrays.get("input1"))
    updates, orders = arrays.get("updates"), arrays.get("orders")
    if rows is None or state is None or updates is None or orders is None or state.ndim != 2 or state.shape[1] < 4:
        return None
    if not len(rows) == len(state) == len(updates) == len(orders) or state.dtype.kind != "f":
        return None
    return rows, state.astype(np.float64), updates, orders


def _said(event: Event, count: int) -> NDArray[np.float64]:
    """What the network said, row by row; NaN where that is not known."""
    output = event.arrays.get("output0")
    if output is None or len(output) != count or output.dtype.kind != "f":
        return np.full((count, 1), np.nan)
    return output.reshape(count, -1).astype(np.float64)


_Acting = dict[tuple[str, int], tuple[NDArray[np.float64], NDArray[np.float64]]]


def _acting(audit: Audit) -> _Acting:
    found: _Acting = {}
    for event in audit.calls:
        if event["grad"] or not event.get("acting") or (given := _state(event)) is None:
            continue
        rows, state, _, _ = given
        for row, each, said in zip(rows.tolist(), state, _said(event, len(rows)), strict=True):
            if row >= 0:
                found.setdefault((str(event["module"]), row), (each, said))
    return found


def _compared(
    audit: Audit, event: Event, acting: _Acting, told: Counter[tuple[str, bool]]
) -> Counter[tuple[str, str, str]]:
    counts: Counter[tuple[str, str, str]] = Counter()
    if not event["grad"] or (given := _state(event)) is None:
        return counts
    rows, state, updates, orders = given
    outputs = _said(event, len(rows))
    nodes = audit.nodes
    places = nodes.index(rows)
    fresh = (places >= 0) & (updates == updates.min())
    fresh &= np.where(places >= 0, (nodes.update[places] == updates) & (nodes.alike[places] == 0), False)
    if not fresh.any():
        return counts
    start = orders[updates == updates.min()].min()
    for at in np.flatnonzero(fresh).tolist():
        before, said = acting.get((str(event["module"]), int(rows[at])), (None, outputs[at]))
        if before is None or before.shape != state[at].shape:
            continue
        if np.isnan(state[at]).all():
            continue  # within a sequence: what it was given there is not seen from outside
        place = places[at]
        kind = "begins" if begins(nodes)[place] else "within"
        if kind == "within" and (nodes.terminated[place] or nodes.truncated[place]):
            kind = "ends"
        if np.allclose(before, state[at], atol=1e-4):
            how = "same"
            if state[at].any() and said.shape == outputs[at].shape and np.isfinite(said).all():
                told[kind, bool(np.allclose(said, outputs[at], rtol=1e-3, atol=1e-4))] += 1
        else:
            how = "empty" if not state[at].any() else "kept" if not before.any() else "other"
        counts[kind, "start" if orders[at] == start or "begun" in event.arrays else "later", how] += 1
    return counts
