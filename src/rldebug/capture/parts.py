"""Parts: observations that are dictionaries or tuples, of which a network is given each part as a tensor of its own.

Which tensor is which part, and by which way it was changed (a number as one of several flags, a picture as shares of
255), is found out once by looking for rows that were observed. From then on the tensors that stand for an observation
are known, whether the numbers in them were observed or not: joined they are the row, and what is left over is an
action, or a state.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from rldebug.capture.env_stream import Stream
from rldebug.capture.layout import Part
from rldebug.capture.ways import WAYS

_MOST = 16  # parts, and tensors that they are looked for among
_TRIED = 48  # ways to put tensors to parts
_SAMPLE = 16  # rows that they are tried on
_ENOUGH = 0.5  # of these
_SEARCHES = 12  # in vain, for tensors of one kind
_CELLS = 1 << 22  # of what is joined

Choice = tuple[tuple[int, str], ...]  # of each part the number of its tensor, and the way
Kind = tuple[int, tuple[tuple[int, ...], ...]]


@dataclass(frozen=True, eq=False)
class Found:
    rows: NDArray[Any] | None  # as they were observed; None where that is not known
    joined: Tensor  # as the network is given them
    places: tuple[int, ...]  # of the tensors that they were joined from


class Parts:
    def __init__(self, look: Any) -> None:
        self.look = look  # from rows to the ids of observations
        self.known: dict[Kind, Choice] = {}
        self._searched: dict[Kind, int] = {}

    def find(self, tensors: Sequence[Tensor], arrays: Sequence[NDArray[Any] | None], stream: Stream) -> Found | None:
        """The rows of an observation among several tensors; None where these cannot be its parts."""
        layout = stream.layout
        if not 0 < len(layout) <= _MOST or not len(layout) <= len(tensors) <= _MOST:
            return None
        kind = stream.index, tuple(tuple(each.shape[1:]) for each in tensors)
        choice = self.known.get(kind)
        if choice is None or self._share(arrays, stream, choice) < _ENOUGH:
            searched = self._searched.get(kind, 0)
            if searched < _SEARCHES:
                self._searched[kind] = searched + 1
                better = self._search(arrays, stream)
                if better is not None:
                    self.known[kind] = choice = better
                    self._searched[kind] = 0
        choice = choice or self._of_fewer(kind)
        if choice is None:
            return _all(tensors)
        rows = _rows(arrays, stream.layout, choice)
        places = tuple(place for place, _ in choice)
        joined = _joined([tensors[each] for each in places], None if rows is None else len(rows))
        return None if joined is None else Found(rows, joined, places)

    def _of_fewer(self, kind: Kind) -> Choice | None:
        """As it is known of the same tensors, without an action after them: their numbers need not be observed."""
        stream, shapes = kind
        others = (one for one in self.known if one[0] == stream and shapes[: len(one[1])] == one[1])
        return next((self.known[one] for one in others), None)

    def _share(self, arrays: Sequence[NDArray[Any] | None], stream: Stream, choice: Choice) -> float:
        """Of some rows, how many are observations if the tensors are these parts."""
        rows = _rows([_some(each) for each in arrays], stream.layout, choice)
        if rows is None:
            return 0.0
        ids = self.look(rows)
        return float((ids >= 0).mean()) if len(ids) else 0.0

    def _search(self, arrays: Sequence[NDArray[Any] | None], stream: Stream) -> Choice | None:
        best: tuple[float, Choice | None] = (0.0, None)
        some = [_some(each) for each in arrays]
        for number, choice in enumerate(_choices(some, stream.layout)):
            if number >= _TRIED:
                break
            share = self._share(some, stream, choice)
            if share > best[0]:
                best = (share, choice)
            if share == 1.0:
                break
        return best[1] if best[0] >= _ENOUGH else None


def _some(array: NDArray[Any] | None) -> NDArray[Any] | None:
    """A few rows, from all over a batch."""
    if array is None or not array.ndim or len(array) <= _SAMPLE:
        return array
    some: NDArray[Any] = array[np.linspace(0, len(array) - 1, _SAMPLE).astype(int)]
    return some


def _choices(arrays: Sequence[NDArray[Any] | None], layout: Sequence[Part]) -> Iterator[Choice]:
    """All that go together, those that keep the order first."""
    fits = []
    for part in layout:
        own = [
            (place, name)
            for place, array in enumerate(arrays)
            if array is not None
            for name, way in WAYS.items()
            if way(array, part) is not None
        ]
        if not own:
            return
        fits.append(own)
    yield from _put(fits, ())


def _put(fits: Sequence[Sequence[tuple[int, str]]], done: Choice) -> Iterator[Choice]:
    if len(done) == len(fits):
        yield done
        return
    last = done[-1][0] if done else -1
    taken = {place for place, _ in done}
    for each in sorted(fits[len(done)], key=lambda one: (one[0] < last, one[0])):
        if each[0] not in taken:
            yield from _put(fits, (*done, each))


def _rows(arrays: Sequence[NDArray[Any] | None], layout: Sequence[Part], choice: Choice) -> NDArray[np.float32] | None:
    """As they would have been observed: the parts one after the other."""
    columns: list[NDArray[np.float32]] = []
    for part, (place, name) in zip(layout, choice, strict=True):
        array = arrays[place]
        rows = None if array is None else WAYS[name](array, part)
        if rows is None or (columns and len(rows) != len(columns[0])):
            return None
        columns.append(rows.astype(np.float32))
    return np.concatenate(columns, axis=1)


def _joined(tensors: Sequence[Tensor], count: int | None) -> Tensor | None:
    """One row for each observation, in the numbers that the network is given."""
    count = len(tensors[0]) if count is None and tensors[0].dim() else count
    if not count or any(each.numel() % count for each in tensors) or sum(map(torch.numel, tensors)) > _CELLS:
        return None
    return torch.cat([each.detach().reshape(count, -1).float() for each in tensors], dim=1)


def _all(tensors: Sequence[Tensor]) -> Found | None:
    """Nothing tells which is which: all of them are the row, for what is known by time alone."""
    if any(not each.dim() or len(each) != len(tensors[0]) for each in tensors):
        return None
    joined = _joined(tensors, len(tensors[0]))
    return None if joined is None else Found(None, joined, tuple(range(len(tensors))))
