"""What a network with a memory says of a step when it learns, beside what it said when it acted, with the same weights.

At the first step of an episode nothing is remembered: both say the same. Later they do only if the memory is the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import Audit, Event, Script
from rldebug.forensics.batches import recurrent
from rldebug.forensics.node_places import begins, places_of
from rldebug.forensics.padded_episodes import padded


@dataclass(frozen=True, eq=False)
class Replay:
    """Of one network."""

    module: str
    audits: int
    same: Counter[str]  # by the kind of step: first, later
    other: Counter[str]
    carried: int  # later steps that were acted with a state that is not empty
    empty: int  # with none, or an empty one
    acting: Event
    learning: Event

    def share(self, kind: str, least: int) -> float | None:
        """Of the steps of a kind of which something else is said; None where they are too few."""
        total = self.same[kind] + self.other[kind]
        return self.other[kind] / total if total >= least else None


@dataclass(frozen=True, eq=False)
class _Said:
    event: Event
    order: int
    output: NDArray[np.float64]
    carried: bool | None  # None where the state was not seen


@lru_cache(maxsize=8)
def replays(script: Script) -> tuple[Replay, ...]:
    names = {str(event["module"]) for _, event in script.events("call") if event.get("acting")}
    return tuple(each for name in sorted(names) if recurrent(script, name) for each in _of(script, name))


def _of(script: Script, module: str) -> list[Replay]:
    same: Counter[str] = Counter()
    other: Counter[str] = Counter()
    state: Counter[bool | None] = Counter()
    audits: set[int] = set()
    example: tuple[Event, Event] | None = None
    for audit in map(padded, script.audits):
        acted = _acted(audit, module)
        for event in audit.calls if acted else ():
            if event.get("acting") or str(event["module"]) != module or not event["grad"]:
                continue
            for _, place, output in _rows(audit, event):
                before = acted.get(place)
                if before is None or before.output.shape != output.shape:
                    continue
                audits.add(audit.number)
                kind = "first" if begins(audit.nodes)[place] else "later"
                alike = bool(np.allclose(before.output, output, rtol=1e-3, atol=1e-4))
                (same if alike else other)[kind] += 1
                if kind == "later":
                    state[before.carried] += 1
                    example = example or (before.event, event)
    if example is None:
        return []
    return [Replay(module, len(audits), same, other, state[True], state[False], *example)]


def _acted(audit: Audit, module: str) -> dict[int, _Said]:
    """By the place of the node."""
    found: dict[int, _Said] = {}
    for event in audit.acting:
        if str(event["module"]) != module:
            continue
        states = [event.arrays[name] for name in ("input1", "input2") if name in event.arrays]
        orders = event.arrays.get("orders", np.full(len(event.arrays["rows"]), event.order))
        unseen = None if len(event.get("inputs") or ()) > 1 else False
        for row, place, output in _rows(audit, event):
            carried = any(bool(each[row].any()) for each in states) if states else unseen
            order = int(orders[row])
            if place not in found or order > found[place].order:  # what follows a step may be valued first
                found[place] = _Said(event, order, output, carried)
    return found


def _rows(audit: Audit, event: Event) -> Iterator[tuple[int, int, NDArray[np.float64]]]:
    """Row, place of the node and what was said, of rows that are one step only, with the weights it was acted with."""
    rows, output, nodes = event.arrays["rows"], event.arrays.get("output0"), audit.nodes
    if output is None or len(output) != len(rows) or output.dtype.kind != "f":
        return
    updates = event.arrays.get("updates", np.full(len(rows), event.update))
    places = places_of(nodes, rows)
    sure = (places >= 0) & (nodes.acted[places] if event.get("acting") else nodes.alike[places] == 0)
    for row in np.flatnonzero(sure & (nodes.update[places] == updates)).tolist():
        yield row, int(places[row]), output[row].ravel().astype(np.float64)
