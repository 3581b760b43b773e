"""A series of any length within bounded memory, without losing a spike."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.run import Series

_PARTS = 32  # pieces that may wait to be joined
Columns = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]


class Thinned:
    """At most about `points` readings of a series.

    They are all there until they are more. From then on readings stand in buckets of equal length, and of each bucket
    the first, the last, the lowest, the highest and the first that is not finite are kept, each with its own place on
    the axes. The length of a bucket depends on the number of readings alone, and doubling it picks from what was kept:
    however a file is cut into pieces, the same readings remain.
    """

    def __init__(self, name: str, points: int) -> None:
        self.name, self.points = name, points
        self.count = 0
        self._parts: list[Columns] = []  # place in the series, update, env_step, value
        self._waiting = 0

    def extend(self, update: NDArray[np.int64], env_step: NDArray[np.int64], value: NDArray[np.float64]) -> None:
        place = np.arange(self.count, self.count + len(value))
        self._parts.append((place, update, env_step, value))
        self.count += len(value)
        self._waiting += len(value)
        if self._waiting > self.points or len(self._parts) > _PARTS:
            self._settle()

    def series(self) -> Series:
        _, update, env_step, value = self._settle()
        return Series(self.name, update, env_step, value)

    def _settle(self) -> Columns:
        joined: Any = [np.concatenate(each) for each in zip(*self._parts, strict=True)]
        if self._waiting and self.count > self.points:
            kept = _extremes(joined[0] // self._bucket(), joined[3])
            joined = [each[kept] for each in joined]
        self._parts, self._waiting = [tuple(joined)], 0
        return self._parts[0]

    def _bucket(self) -> int:
        """Readings per bucket: the least power of two with which four per bucket are not too many."""
        length = 4
        while -(-self.count // length) * 4 > max(self.points, 4):
            length *= 2
        return length


def _extremes(bucket: NDArray[np.int64], value: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which readings stand for their bucket. Buckets are numbered, and in order."""
    starts = np.flatnonzero(np.diff(bucket, prepend=-1))
    lengths = np.diff(starts, append=len(bucket))
    finite = np.isfinite(value)
    kept = np.zeros(len(bucket), dtype=np.bool_)
    kept[starts] = True
    kept[starts + lengths - 1] = True
    kept[_first_of_each(bucket, ~finite)] = True
    for pick, other in ((np.minimum, np.inf), (np.maximum, -np.inf)):
        side = np.where(finite, value, other)
        best = np.repeat(pick.reduceat(side, starts), lengths)
        kept[_first_of_each(bucket, finite & (side == best))] = True
    return kept


def _first_of_each(bucket: NDArray[np.int64], condition: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Index of the first reading of each bucket for which a condition holds."""
    hits = np.flatnonzero(condition)
    return hits[np.diff(bucket[hits], prepend=-1) > 0]
