"""Moving: observations that a program normalises when it learns, by running statistics that have moved on since.

A buffer keeps what the environment gave, and each batch is given to the networks by the statistics of that moment:
rows that no network has seen before. But of one batch all rows were changed alike, element by element, by a factor and
a shift. What these are is guessed at (running statistics are near the mean and spread of what was observed, near what
the last batch was changed by, and what was acted on last), each row is put to the observation that it is nearest to,
and factor and shift are fitted to those pairs, again until nothing changes. What comes out is believed where rows fit
to a few roundings: a dozen rows that fit two numbers for each element do not do so by chance.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rldebug.capture.env_log import EnvLog

WIDTH = 64  # elements; of wider observations nothing is looked for
KEPT = 1 << 15  # observations that are looked among
_NARROWEST = 2
_LEAST = 16  # rows of a batch
_ROUNDS = 8
_FAR = (0.5, 0.25, 0.1)  # of its spread, by which a row may be away from an observation, round by round
_EXACT = 4e-6  # of the greatest number in the column: a few roundings of float32
_ENOUGH = 0.5  # of the rows
_CANDIDATES = 4096  # for one row
_SEARCHES = 16  # in vain, one after the other: the next when there are as many observations again
_PAIRS = 32  # that say how rows were changed of late
_REMEMBERED = 8  # batches: several networks are given one

Array = NDArray[np.float64]
Ints = NDArray[np.int64]


class Moving:
    def __init__(self, log: EnvLog) -> None:
        self.log = log
        self._next = 0
        self._ids: Ints = np.empty(0, dtype=np.int64)
        self._obs: Array = np.empty((0, 0))
        self._last: tuple[Array, Array] | None = None  # factor and shift of the last batch
        self._failed = self._again = 0
        self._known: OrderedDict[int, Ints | None] = OrderedDict()

    def find(self, rows: NDArray[np.generic], pairs: Sequence[tuple[Array, Array]] = ()) -> Ints | None:
        """Node ids of the rows, -1 where there is none; None where it is not known how they were changed. `pairs`:
        observations that were acted on of late, and the rows that they were made to."""
        if rows.ndim != 2 or rows.dtype.kind != "f" or len(rows) < _LEAST or not _NARROWEST <= rows.shape[1] <= WIDTH:
            return None
        key = hash(np.ascontiguousarray(rows).tobytes())
        if key not in self._known:
            while len(self._known) >= _REMEMBERED:
                self._known.popitem(last=False)
            self._known[key] = self._find(rows.astype(np.float64), pairs)
        return self._known[key]

    def _find(self, rows: Array, pairs: Sequence[tuple[Array, Array]]) -> Ints | None:
        if self._failed >= _SEARCHES:
            if self.log.next_id < self._again:
                return None
            self._failed = 0
        if not np.isfinite(rows).all():
            return None
        self._look(rows.shape[1])
        if len(self._obs) < 2 * _LEAST or self._obs.shape[1] != rows.shape[1]:
            return None
        spread = self._obs.std(axis=0)
        if (spread > 0).sum() < _NARROWEST:
            return None
        for guess in self._guesses(rows.shape[1], np.where(spread > 0, spread, 1.0), pairs):
            found = self._fit(rows, *guess, spread)
            if found is not None:
                self._failed = 0
                return found
        self._failed, self._again = self._failed + 1, 2 * self.log.next_id
        return None

    def _guesses(
        self, width: int, spread: Array, pairs: Sequence[tuple[Array, Array]]
    ) -> Iterator[tuple[Array, Array]]:
        if self._last is not None and len(self._last[0]) == width:
            yield self._last
        factor, shift = 1.0 / spread, -self._obs.mean(axis=0) / spread
        yield factor, shift
        near = [(one, row) for one, row in list(pairs)[-_PAIRS:] if len(one) == len(row) == width]
        if len(near) < _PAIRS // 4:
            return
        before, after = (np.stack([each[side] for each in near]) for side in (0, 1))
        factor, shift = factor.copy(), shift.copy()
        for column in range(width):
            line = _line(before[:, column], after[:, column])
            if line is not None:
                factor[column], shift[column] = line
        yield factor, shift

    def _fit(self, rows: Array, factor: Array, shift: Array, spread: Array) -> Ints | None:
        size = np.abs(rows).max(axis=0)
        edge = (np.abs(rows) >= size) & ((np.abs(rows) >= size).sum(axis=0) > 1)  # cut off at a limit, perhaps
        live = spread > 0
        before: Ints | None = None
        for number in range(_ROUNDS):
            wanted = Wanted.of(rows, factor, shift, edge, live)
            near = self._nearest(wanted, _FAR[min(number, len(_FAR) - 1)] * spread[live])
            if (near >= 0).sum() < _LEAST // 2:
                return None
            if before is not None and np.array_equal(near, before):
                break
            before = near
            factor, shift = factor.copy(), shift.copy()
            for column in np.flatnonzero(live):
                good = (near >= 0) & ~edge[:, column]
                line = _line(self._obs[near[good], column], rows[good, column])
                if line is not None:
                    factor[column], shift[column] = line
        wanted = Wanted.of(rows, factor, shift, edge, live)
        rounding = _EXACT * np.maximum(size, 1.0)[live] / np.maximum(np.abs(factor[live]), 1e-12)
        off = wanted.off(self._obs[np.maximum(near, 0)][:, live], slice(None))
        exact = (near >= 0) & (off <= rounding).all(axis=1)
        exact &= edge.sum(axis=1) < max(1, live.sum() // 2)
        if exact.mean() < _ENOUGH or exact.sum() < _LEAST // 2 or len(np.unique(near[exact])) < _LEAST // 2:
            return None
        self._last = factor, shift
        exact &= ~self._twins(near, exact, wanted, 2 * rounding)
        return np.where(exact, self._newest(near), -1)

    def _newest(self, near: Ints) -> Ints:
        """Of observations that are the very same the last one, as in every other way back: it is the one of which the
        log remembers that there were others."""
        nodes = [self.log.get(int(each)) for each in self._ids[near]]
        ids = self.log.ids_of([0 if each is None else each.fp for each in nodes])
        return np.where(ids >= 0, ids, self._ids[near])

    def _nearest(self, wanted: Wanted, far: Array) -> Ints:
        """Of each row the place of the nearest observation; -1 where none is near."""
        found = np.full(len(wanted.raw), -1, dtype=np.int64)
        for row, places in self._within(wanted, far):
            step = max(1, len(places) // _CANDIDATES + 1) if len(places) > _CANDIDATES else 1
            places = places[::step]
            away = (wanted.off(self._obs[places][:, wanted.live], row) / far).max(axis=1)
            best = int(away.argmin())
            if away[best] <= 1.0:
                found[row] = places[best]
        return found

    def _twins(self, near: Ints, asked: NDArray[np.bool_], wanted: Wanted, far: Array) -> NDArray[np.bool_]:
        """Of which rows another observation, not the very same, is as near: sin(t), sin(t + 2π) are a rounding apart,
        and what was done there may differ."""
        found = np.zeros(len(near), dtype=bool)
        for row, places in self._within(wanted, far):
            if asked[row]:
                others = self._obs[places][:, wanted.live]
                same = (others == self._obs[near[row]][wanted.live]).all(axis=1)
                found[row] = bool(((wanted.off(others, row) <= far).all(axis=1) & ~same).any())
        return found

    def _within(self, wanted: Wanted, far: Array) -> Iterator[tuple[int, Ints]]:
        """Of each row the places of observations that may be near: by the element that tells best where to look, which
        is the one that differs most often."""
        obs = self._obs[:, wanted.live]
        by = int(np.argmax([len(np.unique(obs[:512, each])) for each in range(obs.shape[1])]))
        order = np.argsort(obs[:, by], kind="stable")
        column = obs[order, by]
        low = np.searchsorted(column, wanted.raw[:, by] - far[by], side="left")
        high = np.searchsorted(column, wanted.raw[:, by] + far[by], side="right")
        for row in range(len(wanted.raw)):
            if not wanted.free[row, by] and low[row] < high[row]:
                yield row, order[low[row] : high[row]]

    def _look(self, width: int) -> None:
        """What was observed since the last time, as far as it is still remembered."""
        log = self.log
        log.flush()
        first, self._next = max(self._next, log.next_id - KEPT), log.next_id
        nodes = [node for id in range(first, log.next_id) if (node := log.get(id)) is not None]
        nodes = [
            each for each in nodes if each.obs is not None and each.obs.dtype != np.uint8 and each.obs.size == width
        ]
        if not nodes:
            return
        obs = np.stack([each.obs.reshape(-1) for each in nodes if each.obs is not None]).astype(np.float64)
        ids = np.array([each.id for each in nodes], dtype=np.int64)
        if self._obs.shape[1] == width:
            obs, ids = np.concatenate([self._obs, obs]), np.concatenate([self._ids, ids])
        self._obs, self._ids = obs[-KEPT:], ids[-KEPT:]


@dataclass(frozen=True, eq=False)
class Wanted:
    """What the observations of some rows must be, by one factor and shift for each element that varies."""

    raw: Array
    free: NDArray[np.bool_]  # cut off at a limit, perhaps: the observation may lie beyond
    side: Array  # of that limit: +1 above, -1 below
    live: NDArray[np.bool_]

    @staticmethod
    def of(rows: Array, factor: Array, shift: Array, edge: NDArray[np.bool_], live: NDArray[np.bool_]) -> Wanted:
        factor, rows = factor[live], rows[:, live]
        return Wanted((rows - shift[live]) / factor, edge[:, live], np.sign(rows) * np.sign(factor), live)

    def off(self, obs: Array, rows: int | slice) -> Array:
        """By how much observations differ from what those rows want, element by element."""
        more = obs - self.raw[rows]
        beyond = self.free[rows] & (more * self.side[rows] > 0)
        return np.asarray(np.where(beyond, 0.0, np.abs(more)))


def _line(x: Array, y: Array) -> tuple[float, float] | None:
    """Factor and shift, of those pairs that belong together: the others are left out."""
    good = np.ones(len(x), dtype=bool)
    line: tuple[float, float] | None = None
    for _ in range(4):
        if good.sum() < 4 or np.ptp(x[good]) <= 1e-9 * max(1.0, float(np.abs(x).max())):
            return line
        table = np.stack([x[good], np.ones(int(good.sum()))], axis=1)
        factor, shift = map(float, np.linalg.lstsq(table, y[good], rcond=None)[0])
        if factor == 0.0:
            return line
        line = factor, shift
        off = np.abs(factor * x + shift - y)
        good = off <= max(3.0 * float(np.median(off)), 1e-7)
    return line


__all__ = ["Moving"]
