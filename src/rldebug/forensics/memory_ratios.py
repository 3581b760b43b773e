"""Ratios of a recurrent policy in the first loss after acting, by where in their episode the rows stand.

The weights are those of the acting: every ratio is 1 if the memory is the same. Rows of a sequence that come before any
beginning of an episode rest on the state that the sequence begins with; the row that begins an episode rests on an
empty one, whatever the sequence began with. So a memory that is emptied in the one place and not in the other shows in
those rows, and in what follows them.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import Audit, Event, Script
from rldebug.forensics.batches import recurrent
from rldebug.forensics.node_places import begins
from rldebug.forensics.surrogates import surrogates

_OFF = 1e-3  # nats: far above rounding


@dataclass(frozen=True, eq=False)
class MemoryRatios:
    """Rows and those whose ratio is not 1, by kind: carried (before any beginning), ends (the last step of an episode
    among those), begins."""

    audits: int
    rows: Counter[str]
    off: Counter[str]
    example: Event | None

    def share(self, kind: str, least: int) -> float | None:
        """Of rows of a kind that are off; None where they are too few."""
        return self.off[kind] / self.rows[kind] if self.rows[kind] >= least else None


@lru_cache(maxsize=8)
def memory_ratios(script: Script) -> MemoryRatios:
    rows: Counter[str] = Counter()
    off: Counter[str] = Counter()
    audits: set[int] = set()
    example: Event | None = None
    for each in surrogates(script):
        ratio, ids = each.ratio, each.term.arrays.get("rows")
        if not each.fresh or each.audit.number in audits or ratio is None or ids is None or len(ids) != len(ratio):
            continue
        if not any(recurrent(script, module) for module in each.term.get("reached") or ()):
            continue
        if not (ratio > 0).all() or not np.isfinite(ratio).all():
            continue
        audits.add(each.audit.number)
        example = example or each.term
        away = np.abs(np.log(ratio)) > _OFF
        for kind, place in _kinds(each.audit, ids):
            rows[kind] += 1
            off[kind] += bool(away[place])
    return MemoryRatios(len(audits), rows, off, example)


def _kinds(audit: Audit, ids: NDArray[np.int64]) -> list[tuple[str, int]]:
    """Of each row that can be told, with its place in the loss. Lanes one by one, in the order of time."""
    nodes, found = audit.nodes, []
    places = nodes.index(ids)
    known = np.flatnonzero((places >= 0) & np.where(places >= 0, nodes.alike[places] == 0, False))
    lanes = nodes.lane[places[known]] + 4096 * nodes.stream[places[known]]
    for lane in np.unique(lanes):
        mine = known[lanes == lane]
        mine = mine[np.argsort(nodes.call[places[mine]], kind="stable")]
        calls = nodes.call[places[mine]]
        if (np.diff(calls) < 1).any():
            continue  # the same row twice: no sequence
        begun = False
        for number, at in enumerate(mine.tolist()):
            place = places[at]
            if begins(nodes)[place]:
                begun = True
                if number:  # at the start of the sequence its state may be empty anyway
                    found.append(("begins", at))
            elif not begun:
                found.append(("ends" if nodes.terminated[place] or nodes.truncated[place] else "carried", at))
    return found
