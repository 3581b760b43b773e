"""Columns: observations that a program changes element by element, each in a fixed way: `obs * scale`.

Rows that are acted on are known by time, and with what the environment handed out they say how each element is
changed: by a factor and a shift. What a buffer keeps was changed in the same way, also of steps at which no network was
asked. So each observation that is still remembered is changed by us as well, and rows of a batch are looked for among
those, to a few roundings: the program's own formula may round differently.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rldebug.capture.env_log import EnvLog
from rldebug.capture.env_stream import Node

WIDTH = 64  # elements; of wider observations nothing is learned
KEPT = 1 << 16  # observations that are looked among
_PAIRS = 64
_LEARNED_AT = (4, 8, 16, 32, 64)  # pairs
_AGREE = 0.8  # of the pairs: the first observation of an episode may be changed in another way
_EXACT = 2e-6  # of the greatest number in the column: a few roundings of float32
_SPREAD = 0.02  # of the greatest number, by which a column must vary for its factor to be told
_FEWEST = 2  # elements that are told; by one alone rows of another step may be found, by chance
_TRIED = 12  # pairs that may say what most agree on
_CELLS = 1 << 14  # of a column; rows are looked for in two grids, since they may lie at the edge of a cell

Array = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Change:
    """row[place] = factor · obs[of] + shift, for those elements of a row that are told."""

    place: Ints
    of: Ints
    factor: Array
    shift: Array
    size: Array  # the greatest number seen in each
    width: int  # of a row

    def made(self, obs: Array) -> Array:
        return np.asarray(self.factor * obs[:, self.of] + self.shift)

    @property
    def trivial(self) -> bool:
        """Nothing is changed but the order, at most: there are other ways to find such rows."""
        return bool(np.allclose(self.factor, 1.0, atol=1e-6) and np.allclose(self.shift, 0.0, atol=1e-9))


class Columns:
    def __init__(self, log: EnvLog) -> None:
        self.log = log
        self.change: Change | None = None
        self.pairs: deque[tuple[Array, Array]] = deque(maxlen=_PAIRS)
        self._seen = 0
        self._begin()

    def saw(self, nodes: Sequence[Node], rows: NDArray[np.generic]) -> None:
        """Rows that a network acts on, and the observations that they were made of."""
        if rows.dtype.kind != "f" or not 0 < rows.shape[1] <= WIDTH:
            return
        for node, row in zip(nodes[:_PAIRS], rows[:_PAIRS], strict=False):
            if node.obs is None or node.obs.dtype == np.uint8 or not 0 < node.obs.size <= WIDTH:
                continue
            pair = node.obs.reshape(-1).astype(np.float64), row.astype(np.float64)
            if self.pairs and (len(self.pairs[0][0]), len(self.pairs[0][1])) != (len(pair[0]), len(pair[1])):
                self.pairs.clear()
                self._seen = 0
            self.pairs.append(pair)
            self._seen += 1
            if self._seen in _LEARNED_AT or self._seen % _PAIRS == 0:
                self._learn()

    def find(self, rows: NDArray[np.generic]) -> Ints | None:
        """Node ids of the rows, -1 where there is none; None where it is not known how they are changed."""
        change = self.change
        if change is None or rows.ndim != 2 or rows.shape[1] != change.width or rows.dtype.kind != "f":
            return None
        self._look(change)
        own = rows[:, change.place].astype(np.float64)
        found = np.full(len(rows), -1, dtype=np.int64)
        if not self._count or not np.isfinite(own).all():
            return found
        for grid, keys in enumerate(self._keys(change, own)):
            index = self._index[grid]
            at = np.array([index.get(key, -1) for key in keys], dtype=np.int64)
            near = (np.abs(self._made[at] - own) <= _EXACT * np.maximum(change.size, np.abs(own))).all(axis=1)
            good = (found < 0) & (at >= 0) & near & ~self._doubtful[at]
            found[good] = self._ids[at[good]]
        return found

    # ── learning ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _learn(self) -> None:
        before, after = (np.stack([pair[side] for pair in self.pairs]) for side in (0, 1))
        known = self.change
        if known is not None and known.width == after.shape[1] and len(known.place) == known.width:
            off = np.abs(known.made(before) - after[:, known.place]) / np.maximum(known.size, np.abs(after))
            if (off <= _EXACT).all(axis=1).mean() >= _AGREE:
                return
        found = learned(before, after)
        self.change = None if found is None or found.trivial else found
        self._begin()

    # ── looking ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def _begin(self) -> None:
        self._index: tuple[dict[bytes, int], dict[bytes, int]] = ({}, {})
        self._count = self._next = 0
        self._ids: Ints = np.empty(0, dtype=np.int64)
        self._made: Array = np.empty((0, 0))
        self._doubtful: NDArray[np.bool_] = np.empty(0, dtype=bool)
        self._prints: list[int] = []

    def _look(self, change: Change) -> None:
        """Change what was observed since the last time."""
        log = self.log
        log.flush()
        if self._count > KEPT:
            self._begin()
        width = int(change.of.max()) + 1
        first = max(self._next, log.next_id - KEPT)
        nodes = [node for id in range(first, log.next_id) if (node := log.get(id)) is not None]
        nodes = [each for each in nodes if each.obs is not None and width <= each.obs.size <= WIDTH]
        self._next = log.next_id
        if not nodes:
            return
        obs = np.stack([each.obs.reshape(-1)[:width] for each in nodes]).astype(np.float64)  # type: ignore[union-attr]
        made = change.made(obs)
        start = self._count
        self._count += len(nodes)
        self._ids = np.concatenate([self._ids, np.array([each.id for each in nodes], dtype=np.int64)])
        self._made = np.concatenate([self._made, made]) if start else made
        self._doubtful = np.concatenate([self._doubtful, np.zeros(len(nodes), dtype=bool)])
        self._prints += [each.fp for each in nodes]
        for index, keys in zip(self._index, self._keys(change, made), strict=True):
            for place, key in enumerate(keys, start=start):
                other = index.get(key, -1)
                if other >= 0 and self._prints[other] != self._prints[place]:
                    # Elements of which nothing is known may be all that they differ in.
                    near = np.abs(self._made[other] - self._made[place]) <= 2 * _EXACT * change.size
                    if near.all():
                        self._doubtful[[other, place]] = True
                index[key] = place

    def _keys(self, change: Change, rows: Array) -> list[list[bytes]]:
        cells = rows * (_CELLS / change.size)
        return [_bytes(np.floor(cells + offset)) for offset in (0.0, 0.5)]


def _bytes(cells: Array) -> list[bytes]:
    data, width = np.ascontiguousarray(cells.astype(np.int64)).tobytes(), 8 * cells.shape[1]
    return [data[start : start + width] for start in range(0, len(data), width)]


def learned(before: Array, after: Array) -> Change | None:
    """How rows were made of observations, where most elements are told; before: (pairs, elements), after alike."""
    told: list[tuple[int, int, float, float, float]] = []
    agree = np.zeros((len(after), after.shape[1]), dtype=bool)
    for place in range(after.shape[1]):
        likely = [place] if before.shape[1] == after.shape[1] else []
        for of in dict.fromkeys([*likely, *range(before.shape[1])]):
            line = _line(before[:, of], after[:, place])
            if line is not None:
                agree[:, place] = line[2]
                told.append((place, of, line[0], line[1], float(np.abs(after[line[2], place]).max())))
                break
    if 2 * len(told) < after.shape[1] or len(told) < _FEWEST:
        return None
    places, ofs, factors, shifts, sizes = zip(*told, strict=True)
    if agree[:, list(places)].all(axis=1).mean() < _AGREE:
        return None  # of each element other pairs
    rest = sorted(set(range(after.shape[1])) - set(places))
    if rest and not all(_still(after[:, each]) for each in rest):
        return None  # it varies, and with no element of the observation
    factor, shift, size = (np.array(each, dtype=np.float64) for each in (factors, shifts, sizes))
    return Change(np.array(places), np.array(ofs), factor, shift, size, after.shape[1])


def _still(column: Array) -> bool:
    return float(np.ptp(column)) < _SPREAD * float(np.abs(column).max()) or not column.any()


def _line(x: Array, y: Array) -> tuple[float, float, NDArray[np.bool_]] | None:
    """Factor and shift that most of the pairs agree on, to rounding."""
    size = float(np.abs(y).max())
    if not np.isfinite(y).all():
        return None
    same = np.abs(y - x) <= _EXACT * size
    if len(np.unique(x[same])) > 1 and same.mean() >= _AGREE:
        return 1.0, 0.0, same  # a flag has two values only
    if len(np.unique(x)) < 3 or float(np.ptp(y)) < _SPREAD * size:
        return None
    order = np.argsort(x, kind="stable")
    half = len(order) // 2
    pairs = list(zip(order[: len(order) - half], order[half:], strict=True))  # far apart, each of them
    for one, two in [(order[0], order[-1]), *pairs[:: max(1, len(pairs) // _TRIED)]]:
        if abs(x[two] - x[one]) < 1e-3 * float(np.ptp(x)):
            continue
        factor = float((y[two] - y[one]) / (x[two] - x[one]))
        shift = float(y[one] - factor * x[one])
        good = np.abs(factor * x + shift - y) <= _EXACT * size
        if good.mean() < _AGREE or len(np.unique(x[good])) < 3 or factor == 0.0:
            continue
        table = np.stack([x[good], np.ones(int(good.sum()))], axis=1)
        factor, shift = map(float, np.linalg.lstsq(table, y[good], rcond=None)[0])
        if abs(shift) < _EXACT * size:
            shift = 0.0
        return factor, shift, np.abs(factor * x + shift - y) <= _EXACT * size
    return None
