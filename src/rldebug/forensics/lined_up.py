"""Rows of a loss whose observations come back, told apart by their order.

In a grid world one row may be any of a dozen steps. But rows that are learned from together mostly are in the order in
which they were made: along one axis of the batch each is the step after the one before it. A stretch of a dozen rows
with their actions then fits only one stretch of the recording.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import UNKNOWN, Audit, Event, Nodes
from rldebug.forensics.node_places import after, same

Ints = NDArray[np.int64]
Array = NDArray[np.float64]

_RUN = 6  # rows in a row, for a stretch to count; where batches are shorter, all of them
_SHORT = 3
_ALL = 0.9  # share of the rows that must lie in such stretches
_KNOWN = 0.8  # share of the rows whose look is known; a stretch goes on over the others
_TWINS = 0.05  # share of rows that may be several steps, from which on order is asked


@lru_cache(maxsize=256)
def lined_up(audit: Audit) -> Audit:
    """The audit, with the true step in each row of a loss that its order tells; such steps are alone then."""
    nodes = audit.nodes
    if not len(nodes) or not (nodes.alike != 0).any():
        return audit
    looks = _Looks(nodes)
    rows_of: dict[int, Ints] = {}
    sure = np.zeros(len(nodes), dtype=bool)
    for _, terms in audit.losses:
        for term in terms:
            found = _of_term(looks, terms, term)
            if found is not None:
                rows_of[term.order] = np.where(found >= 0, nodes.id[found], UNKNOWN)
                sure[found[found >= 0]] = True
    if not rows_of:
        return audit
    events = tuple(
        replace(each, arrays={**each.arrays, "rows": rows_of[each.order]})
        if each.kind == "term" and each.order in rows_of
        else each
        for each in audit.events
    )
    return replace(audit, nodes=replace(nodes, alike=np.where(sure, 0, nodes.alike)), events=events)


class _Looks:
    """What each node looks like, and which step was taken after it."""

    def __init__(self, nodes: Nodes) -> None:
        self.nodes = nodes
        self.look = same(nodes)
        self.onward = np.append(after(nodes), UNKNOWN)
        self.acted = np.append(nodes.acted & ~nodes.phantom, False)
        self.action = nodes.action[:, 0] if nodes.action.shape[1] == 1 else np.full(len(nodes), np.nan)
        self._look, self._action = np.append(self.look, UNKNOWN), np.append(self.action, np.nan)
        self._known: dict[tuple[bytes, bytes, tuple[int, ...]], tuple[Ints, float]] = {}

    def stretches(self, look: Ints, actions: Array, grid: Ints) -> tuple[Ints, float]:
        """As `_stretches`; several losses are about the same rows, and each epoch again."""
        key = look.tobytes(), actions.tobytes(), grid.shape
        if key not in self._known:
            self._known[key] = _stretches(self, look, actions, grid)
        return self._known[key]

    def steps_like(self, look: int, action: float) -> Ints:
        fits = self.acted[:-1] & ((self.look == look) if look >= 0 else True)
        if np.isfinite(action):
            fits &= self.action == action
        return np.flatnonzero(fits)

    def go_on(self, places: Ints, look: int, action: float) -> Ints:
        """The steps after these, UNKNOWN where they are not like that."""
        on = self.onward[places]
        fits = self.acted[on]
        if look >= 0:
            fits = fits & (self._look[on] == look)
        if np.isfinite(action):
            fits = fits & (self._action[on] == action)
        return np.where(fits, on, UNKNOWN)

    def goes_on(self, place: int, look: Ints, actions: Array) -> int:
        """How many of these rows are the steps after one."""
        onward, acted, looks, action = self._one_by_one
        for count, (wanted, done) in enumerate(zip(look.tolist(), actions.tolist(), strict=True)):
            place = onward[place]
            if not acted[place] or (wanted >= 0 and looks[place] != wanted) or (done == done and action[place] != done):
                return count
        return len(look)

    @cached_property
    def _one_by_one(self) -> tuple[list[int], list[bool], list[int], list[float]]:
        """As lists: one step at a time, these take a tenth of what arrays take."""
        return self.onward.tolist(), self.acted.tolist(), self._look.tolist(), self._action.tolist()


def _of_term(looks: _Looks, terms: Sequence[Event], term: Event) -> Ints | None:
    """Places of the steps that the rows of a term are; None where their order does not tell."""
    ids = term.arrays.get("rows")
    if ids is None or len(ids) < _RUN:
        return None
    places = looks.nodes.index(ids)
    known = places >= 0
    if known.mean() < _KNOWN or (looks.nodes.alike[places[known]] != 0).mean() < _TWINS:
        return None
    look = np.where(known, looks.look[places], UNKNOWN)
    actions = _actions(terms, term, ids)
    best: tuple[float, Ints] | None = None
    for grid in _grids(term, len(ids), looks):
        found, share = looks.stretches(look, actions, grid)
        if share >= _ALL and (best is None or share > best[0]):
            best = (share, found)
    return None if best is None else best[1]


def _actions(terms: Sequence[Event], term: Event, ids: Ints) -> Array:
    """The action of each row, where this term or another one of the loss about the same rows has it."""
    for each in (term, *terms):
        index, rows = each.arrays.get("index"), each.arrays.get("rows")
        if index is not None and rows is not None and np.size(index) == len(ids) and np.array_equal(rows, ids):
            return np.ravel(index).astype(np.float64)
    return np.full(len(ids), np.nan)


def _grids(term: Event, count: int, looks: _Looks) -> Iterator[Ints]:
    """Numbers of the rows, in columns of rows that may follow one another."""
    yield np.arange(count)[:, None]
    wide: set[int] = set()
    for shape in (term.get("shapes") or {}).values():
        if isinstance(shape, list) and len(shape) >= 2 and shape[0] * shape[1] == count:
            wide |= {int(shape[0]), int(shape[1])}
    acted = looks.acted[:-1]
    lanes = len(np.unique(looks.nodes.lane[acted] + 4096 * looks.nodes.stream[acted]))
    wide.add(lanes)
    for each in sorted(wide):
        if 1 < each < count and count % each == 0:
            yield np.arange(count).reshape(-1, each)


def _stretches(looks: _Looks, look: Ints, actions: Array, grid: Ints) -> tuple[Ints, float]:
    """For each row its step, and the share of rows that lie in stretches long enough."""
    found = np.full(len(look), UNKNOWN, dtype=np.int64)
    length = min(_RUN, len(grid))
    if length < _SHORT:
        return found, 0.0
    missed = 0
    for column in grid.T:
        at = 0
        while at < len(column):
            taken = _longest(looks, look[column[at:]], actions[column[at:]])
            run = len(taken)
            if run >= length or (run >= _SHORT and at + run == len(column)):
                found[column[at : at + run]] = taken
            else:
                missed += max(run, 1)
                if missed > (1.0 - _ALL) * len(look):
                    return found, 0.0
            at += max(run, 1)
    several = found[found >= 0]
    if len(np.unique(several)) < _ALL * len(several):
        return found, 0.0  # no step is learned from twice at once
    return found, 1.0 - missed / len(look)


def _longest(looks: _Looks, look: Ints, actions: Array) -> Ints:
    """The longest stretch of steps that begins like these rows. The newest of several that pay the same."""
    begun = here = looks.steps_like(int(look[0]), float(actions[0]))
    rows = 1
    while len(here) > 1 and rows < len(look):
        on = looks.go_on(here, int(look[rows]), float(actions[rows]))
        keep = on >= 0
        if not keep.any():
            break
        begun, here = begun[keep], on[keep]
        rows += 1
    if len(here) == 1:
        rows += looks.goes_on(int(here[0]), look[rows:], actions[rows:])
    if not len(here):
        return np.empty(0, dtype=np.int64)
    made = np.empty((rows, len(begun)), dtype=np.int64)
    made[0] = begun
    for row in range(1, rows):
        made[row] = looks.onward[made[row - 1]]
    if made.shape[1] > 1:
        nodes = looks.nodes
        kept = made[:, -1:]
        alike = np.abs(nodes.reward[made] - nodes.reward[kept]) < 1e-9
        alike &= (nodes.terminated[made] == nodes.terminated[kept]) & (nodes.truncated[made] == nodes.truncated[kept])
        if not alike.all():
            return np.empty(0, dtype=np.int64)
    return np.asarray(made[:, -1])


__all__ = ["lined_up"]
