"""Matching: from the rows a network is given back to the observations they came from.
 Programs change observations on the way: they cast, flatten, scale bytes to 0…1, move the channels, append an action.
Each way of changing them has a way back, tried in turn; the one that worked last for this width comes first. Where
none works but as many rows come in as there are lanes, just after the environment was called, the rows are the
current observations: their fingerprints are remembered as aliases, and training rows are found by those. Where they
tell how each element was changed, rows are found that no network acted on (columns.py).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from rldebug.capture.columns import Columns
from rldebug.capture.env_log import EnvLog
from rldebug.capture.env_stream import Node, Stream
from rldebug.capture.fingerprints import row_fingerprints

ROWS = 4096  # of a batch that are looked at
ALIASES = 1 << 16
_TRIED = 4  # of several tensors that a network is given
_PARTS = 4  # that are joined to one observation, in any order
_ENOUGH = 0.5  # of the rows are found: this is the way they went
_PAIRS = 128
_TOLD = 12  # observations, all of which looked different

Way = Callable[[NDArray[Any], Stream], "NDArray[Any] | None"]


def as_rows(array: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any] | None:
    """The batch as a matrix with one observation per row, where its last axes can be one."""
    size = math.prod(shape)
    if shape and len(array.shape) > len(shape) and array.shape[-len(shape) :] == shape:
        return array.reshape(-1, size)
    if array.shape == shape or array.size == size:
        return array.reshape(1, size)
    if not shape and array.ndim == 1 and array.dtype.kind in "iu":
        return array.reshape(-1, 1)  # the numbers of states, for an embedding or a table
    if array.ndim >= 2 and array.shape[-1] == size:
        return array.reshape(-1, size)
    if array.ndim >= 2 and math.prod(array.shape[1:]) == size:
        return array.reshape(array.shape[0], size)
    return None


def _raw(array: NDArray[Any], stream: Stream) -> NDArray[Any] | None:
    rows = as_rows(array, stream.shape or ())
    if rows is None or stream.dtype != "uint8" or rows.dtype == np.uint8:
        return rows
    return _bytes(rows)


def _bytes(rows: NDArray[Any]) -> NDArray[Any] | None:
    whole = np.rint(rows)
    if whole.min() < 0 or whole.max() > 255 or np.abs(rows - whole).max() > 1e-3:
        return None
    found: NDArray[Any] = whole.astype(np.uint8)
    return found


def _scaled(array: NDArray[Any], stream: Stream) -> NDArray[Any] | None:
    """Bytes as shares of 255."""
    rows = as_rows(array, stream.shape or ())
    return None if rows is None or stream.dtype != "uint8" or rows.dtype.kind != "f" else _bytes(rows * 255.0)


def _centred(array: NDArray[Any], stream: Stream) -> NDArray[Any] | None:
    """Bytes as numbers from -1 to 1, or from -0.5 to 0.5."""
    rows = as_rows(array, stream.shape or ())
    if rows is None or stream.dtype != "uint8" or rows.dtype.kind != "f":
        return None
    for factor in (127.5, 255.0):
        found = _bytes((rows + 127.5 / factor) * factor)
        if found is not None:
            return found
    return None


def _channels_first(array: NDArray[Any], stream: Stream) -> NDArray[Any] | None:
    """(N, C, H, W) of an image that is (H, W, C); as bytes or as shares of 255."""
    shape = stream.shape or ()
    if len(shape) != 3 or array.ndim < 4 or array.shape[-3:] != (shape[2], shape[0], shape[1]):
        return None
    turned = np.moveaxis(array.reshape(-1, *array.shape[-3:]), 1, 3)
    rows = turned.reshape(len(turned), -1)
    if stream.dtype != "uint8" or rows.dtype == np.uint8:
        return rows
    found = _bytes(rows)
    return found if found is not None and rows.max() > 1.0 else _bytes(rows * 255.0)


def _one_hot(array: NDArray[Any], stream: Stream) -> NDArray[Any] | None:
    count = stream.facts.get("obs_n")
    if count is None and array.ndim >= 2 and "int" in stream.dtype and int(np.prod(stream.shape or (1,))) == 1:
        count = int(array.shape[-1])  # an environment that declares nothing, and says the number of its state
    if not isinstance(count, int) or array.ndim < 1 or array.shape[-1] != count or count < 2:
        return None
    rows = array.reshape(-1, count)
    if not bool((((rows == 0) | (rows == 1)).all(axis=1) & (rows.sum(axis=1) == 1)).all()):
        return None
    found: NDArray[Any] = rows.argmax(axis=1)[:, None]
    return found


def _slices(array: NDArray[Any], stream: Stream) -> Iterator[NDArray[Any]]:
    """The observation is a part of the input: with an action after it, or the newest of a stack of frames."""
    size = math.prod(stream.shape or (1,))
    if stream.dtype == "uint8" or array.ndim < 2 or array.shape[-1] <= size or size < 2:
        return
    rows = array.reshape(-1, array.shape[-1])
    yield rows[:, :size]
    yield rows[:, -size:]


_STACK = 32  # calls from the oldest frame of a stack to the newest, resets among them
_STACKED = 0.9  # of the rows
_NEARLY = 0.1  # by which rows may differ, of their size

_WAYS: dict[str, Way] = {
    "raw": _raw,
    "scaled": _scaled,
    "channels-first": _channels_first,
    "centred": _centred,
    "one-hot": _one_hot,
}


class Matcher:
    def __init__(self, log: EnvLog) -> None:
        self.log = log
        self.aliases: dict[int, int] = {}  # fingerprint of an input row -> node id
        self.columns = Columns(log)
        self._learned: tuple[list[int], NDArray[np.int64]] = ([], np.empty(0, dtype=np.int64))
        self._looked_like: NDArray[Any] = np.empty((0, 0))  # the rows of these
        self._told = self._confused = 0  # observations that were learned; those that looked like another one
        self._last: dict[tuple[int, tuple[int, ...]], str] = {}  # (stream, width of the input) -> the way that worked
        self._order: tuple[int, ...] = ()  # of the parts of an observation, as they were found joined
        self.place = 0  # which of several tensors the rows were found in, the last time

    def rows(self, tensors: Sequence[Tensor]) -> tuple[NDArray[np.int64], str]:
        """Node ids of the rows of a network's input, the best-matched of several; and the way they were found."""
        best: tuple[float, NDArray[np.int64], str] = (0.0, np.empty(0, dtype=np.int64), "none")
        self.place = 0
        for place in self._promising(tensors):
            array = to_numpy(tensors[place])
            if array is None:
                continue
            ids, how = self._match(array)
            share = _share(ids)
            if share > best[0]:
                self.place = place
            if share > best[0] or (best[0] == 0.0 and len(ids) > len(best[1])):
                best = (share, ids, how)
            if share == 1.0:
                break
        joined = self._joined(tensors) if best[0] < 1.0 or best[2] == "alias" else None
        if joined is not None and _share(joined) >= (_ENOUGH if best[2] == "alias" else best[0] + 1e-9):
            self.place = 0
            return joined, "parts"
        return best[1], best[2]

    def _joined(self, tensors: Sequence[Tensor]) -> NDArray[np.int64] | None:
        """The parts of an observation that is a dictionary, or a tuple, given as tensors of their own."""
        if not 1 < len(tensors) <= _PARTS:
            return None
        count = len(tensors[0]) if tensors[0].dim() > 1 else 1
        sizes = [each.numel() // max(count, 1) for each in tensors]
        likely = [each for each in self._likely() if math.prod(each.shape or ()) == sum(sizes)]
        if not likely or any((len(each) if each.dim() > 1 else 1) != count for each in tensors):
            return None
        arrays = [to_numpy(each) for each in tensors]
        if any(each is None for each in arrays):
            return None
        parts = [each.reshape(count, -1)[:ROWS].astype(np.float32) for each in arrays if each is not None]
        best: NDArray[np.int64] | None = None
        known = self._order if len(self._order) == len(parts) else ()
        for order in dict.fromkeys([known or tuple(range(len(parts))), *permutations(range(len(parts)))]):
            ids = self._find(np.concatenate([parts[each] for each in order], axis=1))
            if best is None or _share(ids) > _share(best):
                best, self._order = ids, order
            if _share(ids) >= _ENOUGH:
                break
        return best

    def _promising(self, tensors: Sequence[Tensor]) -> list[int]:
        """A whole batch in a dictionary has actions, rewards and more beside the observations."""
        places = list(range(len(tensors)))
        if len(places) > _TRIED:
            shapes = {stream.shape for stream in self._likely()}
            places.sort(key=lambda each: tuple(tensors[each].shape[1:]) not in shapes)
        return places[:_TRIED]

    def learn(self, array: NDArray[Any]) -> NDArray[np.int64] | None:
        """Rows that nothing explains, as many as there are lanes: the current observations, as the program has them."""
        current = self.log.current(array.shape[0] if array.ndim > 1 else 1)
        if not current or array.ndim < 1:
            return None
        count = len(current)
        rows = array.reshape(1, -1) if count == 1 and array.ndim == 1 else array
        if rows.shape[0] != count or rows.ndim < 2:
            return None
        if len(self.aliases) > ALIASES:
            self.aliases.clear()
        prints = row_fingerprints(rows.reshape(count, -1))
        self._looked_like = rows.reshape(count, -1).copy()
        self._learned = (prints, np.array([each.id for each in current], dtype=np.int64))
        self.columns.saw(current, self._looked_like)
        for fp, node in zip(prints, current, strict=True):
            before = self.log.get(self.aliases.get(fp, -1))
            self._told += 1
            if before is not None and before is not node:
                self._confused += 1
                # Another observation that looks the same to the network: neither can be told from the other any more.
                before.alike, node.alike = node.id, before.id
            self.aliases[fp] = node.id
        return self._learned[1]

    def just_left(self, rows: NDArray[np.int64]) -> bool:
        """Whether they are what the last step was taken from, in every lane: a network is asked about it once more, by
        mistake perhaps. Only where no two observations have looked the same to the networks so far."""
        current = self.log.current(len(rows))
        if not current or len(current) != len(rows) or self._confused or self._told < _TOLD:
            return False
        nodes = [self.log.get(int(row)) for row in rows]
        return all(
            node is not None and node.acted and here.id in (node.nxt, node.succ)
            for node, here in zip(nodes, current, strict=True)
        )

    def valued_last(self, array: NDArray[Any], ids: NDArray[np.int64]) -> dict[int, int] | None:
        """Where the rows learned last were not the current observations but those that steps led to: these are the same
        again, but for lanes that were reset in between. Of each of those the last observation; None where it is not so.
        """
        before, (prints, learned) = self._looked_like, self._learned
        if array.ndim < 2 or not len(before) or array.reshape(len(array), -1).shape != before.shape:
            return None
        if len(ids) != len(learned) or not np.array_equal(ids[ids >= 0], learned[ids >= 0]):
            return None
        current = self.log.current(len(learned))
        if [each.id for each in current] != learned.tolist():
            return None
        ends: dict[int, int] = {}
        looks = row_fingerprints(array.reshape(len(array), -1))
        # Nothing is known of those others, or it is known that they are current (columns.py); either way they are not
        # the rows that were taken for these.
        for lane in (place for place, (one, other) in enumerate(zip(looks, prints, strict=True)) if one != other):
            node = current[lane]
            near = (self.log.get(node.id - 1), self.log.get(node.id + 1))
            ended = [each for each in near if each is not None and each.succ == node.id and not each.acted]
            if not node.first or not ended or (ended[0].stream, ended[0].lane) != (node.stream, node.lane):
                return None
            ends[lane] = ended[0].id
        for lane, last in ends.items():
            self.aliases[prints[lane]] = last
        return ends or None

    def nearly_learned(self, array: NDArray[Any]) -> bool:
        """Whether rows are all but those learned last: normalised once more, by statistics that have moved a little."""
        before = self._looked_like
        if array.ndim < 2 or not len(before) or array.reshape(len(array), -1).shape != before.shape:
            return False
        away = np.abs(array.reshape(len(array), -1).astype(np.float64) - before).max(axis=1)
        # Where an episode has just ended one of the two is its last observation, and the other the first of the next.
        return bool((away < _NEARLY * (1.0 + np.abs(before).max(axis=1))).mean() > 0.7)

    def _match(self, array: NDArray[Any]) -> tuple[NDArray[np.int64], str]:
        best: tuple[float, NDArray[np.int64], str] = (0.0, np.empty(0, dtype=np.int64), "none")
        for stream in self._likely():
            key = (stream.index, array.shape[1:])
            known = self._last.get(key)
            for way in dict.fromkeys([known, *_WAYS] if known in _WAYS else _WAYS):
                rows = _WAYS[way](array, stream)
                if rows is None:
                    continue
                ids = self._find(rows[:ROWS])
                share = _share(ids)
                if share > best[0] or not len(best[1]):
                    best = (share, ids, way if share else "none")
                if share >= _ENOUGH:
                    self._last[key] = way
                    break
            else:
                for rows in _slices(array, stream):
                    ids = self._find(rows[:ROWS])
                    share = _share(ids)
                    if share > best[0] or (best[2] == "slice" and share == best[0] and self._later(best[1], ids)):
                        best = (share, ids, "slice")
            if best[0] >= _ENOUGH:
                return best[1], best[2]
        if self.aliases and array.ndim >= 1:
            flat = array.reshape(1, -1) if array.ndim == 1 else array.reshape(array.shape[0], -1)
            prints = row_fingerprints(flat[:ROWS])
            if prints == self._learned[0]:
                return self._learned[1], "alias"  # the same rows once more, for another network
            ids = np.array([self._alias(fp) for fp in prints], dtype=np.int64)
            changed = self._changed(array, ids, best[1])
            if changed is not None:
                return changed
            if (ids >= 0).mean() > best[0]:
                return ids, "alias"
            for rows in () if best[0] else (part for stream in self._likely() for part in _slices(array, stream)):
                ids = np.array([self._alias(fp) for fp in row_fingerprints(rows[:ROWS])], dtype=np.int64)
                if (ids >= 0).mean() >= _ENOUGH:
                    return ids, "slice"
        if not len(best[1]) and array.ndim >= 2:
            best = (0.0, np.full(min(len(array), ROWS), -1, dtype=np.int64), "none")
        return best[1], best[2]

    def _changed(
        self, array: NDArray[Any], aliased: NDArray[np.int64], raw: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], str] | None:
        """Rows whose elements were changed one by one, as they or as a part of the input; others as they were found."""
        flat = array.reshape(1, -1) if array.ndim == 1 else array.reshape(array.shape[0], -1)
        for how, rows in (
            ("alias", flat),
            *(("slice", part) for each in self._likely() for part in _slices(array, each)),
        ):
            ids = self.columns.find(rows[:ROWS])
            if ids is None or not len(ids):
                continue
            for other in (aliased, raw):
                if len(other) == len(ids):
                    ids = np.where(ids < 0, other, ids)
            if _share(ids) > max(_share(aliased), _share(raw)):
                return ids, how  # of a few only, where a buffer is drawn from that was hardly filled
        return None

    def _likely(self) -> list[Stream]:
        """Those with observations, the newest first; of those with equal shapes one will do: they share an index."""
        newest = [self.log.newest] if self.log.newest is not None else []
        found: dict[Any, Stream] = {}
        for each in [*newest, *reversed(self.log.streams)]:
            if each.shape is not None:
                found.setdefault((each.shape, each.dtype), each)
        return list(found.values())[:4]

    def _find(self, rows: NDArray[Any]) -> NDArray[np.int64]:
        return self.log.ids_of(row_fingerprints(rows))

    def _later(self, first: NDArray[np.int64], last: NDArray[np.int64]) -> bool:
        """Whether both ends of an input are observations, and the last one was made a few steps after the first, in
        the same episode or the next: a stack, whose newest frame comes last."""
        pairs = [(self.log.get(int(a)), self.log.get(int(b))) for a, b in zip(first, last, strict=True)]
        known = [(a, b) for a, b in pairs if a is not None and b is not None]
        near = [(a.stream, a.lane) == (b.stream, b.lane) and 0 <= b.call - a.call < _STACK for a, b in known]
        return sum(near) > _STACKED * len(near) and first.tolist() != last.tolist()

    def _alias(self, fp: int) -> int:
        id = self.aliases.get(fp, -1)
        return id if id < 0 or self.log.get(id) is not None else -1


def _share(ids: NDArray[np.int64]) -> float:
    """Of the rows that were found."""
    return int(np.count_nonzero(ids >= 0)) / len(ids) if len(ids) else 0.0


def to_numpy(tensor: Any) -> NDArray[Any] | None:
    """A tensor's numbers on the host, not a copy where it is there already."""
    if not isinstance(tensor, Tensor) or tensor.is_sparse or tensor.is_complex() or tensor.numel() == 0:
        return None
    tensor = tensor.detach()
    if tensor.dtype.is_floating_point and tensor.dtype.itemsize == 2:
        tensor = tensor.float()
    array: NDArray[Any] = tensor.cpu().numpy()
    return array if array.dtype.kind in "fiub" else None


def ambiguous(node: Node) -> bool:
    return node.alike >= 0
