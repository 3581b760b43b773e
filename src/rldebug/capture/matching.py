"""Matching: from the rows a network is given back to the observations they came from.
 Programs change observations on the way: they cast, flatten, scale bytes to 0…1, move the channels, append an action.
Each way of changing them has a way back, tried in turn; the one that worked last for this width comes first. Where
none works but as many rows come in as there are lanes, just after the environment was called, the rows are the
current observations: their fingerprints are remembered as aliases, and training rows are found by those. Where they
tell how each element was changed, rows are found that no network acted on (columns.py).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from rldebug.capture.columns import Columns
from rldebug.capture.env_log import EnvLog
from rldebug.capture.env_stream import Node, Stream
from rldebug.capture.fingerprints import row_fingerprints
from rldebug.capture.moving import Moving
from rldebug.capture.parts import Found, Parts
from rldebug.capture.ways import WAYS, slices

ROWS = 4096  # of a batch that are looked at
ALIASES = 1 << 16
_TRIED = 4  # of several tensors that a network is given
_UNCLEAR = -2
_ENOUGH = 0.5  # of the rows are found: this is the way they went
_PAIRS = 128
_TOLD = 12  # observations, all of which looked different

_STACK = 32  # calls from the oldest frame of a stack to the newest, resets among them
_STACKED = 0.9  # of the rows
_NEARLY = 0.1  # by which rows may differ, of their size


class Matcher:
    def __init__(self, log: EnvLog) -> None:
        self.log = log
        self.aliases: dict[int, int] = {}  # fingerprint of an input row -> node id
        self.columns = Columns(log)
        self.moving = Moving(log)
        self._learned: tuple[list[int], NDArray[np.int64]] = ([], np.empty(0, dtype=np.int64))
        self._looked_like: NDArray[Any] = np.empty((0, 0))  # the rows of these
        self._told = self._confused = 0  # observations that were learned; those that looked like another one
        self._last: dict[tuple[int, tuple[int, ...]], str] = {}  # (stream, width of the input) -> the way that worked
        self.parts = Parts(self._known)
        self.whole: Found | None = None  # of the tensors given last, those that together are the observations
        self.place = 0  # which of several tensors the rows were found in, the last time

    def rows(self, tensors: Sequence[Tensor]) -> tuple[NDArray[np.int64], str]:
        """Node ids of the rows of a network's input, the best-matched of several; and the way they were found."""
        self.place, self.whole = 0, None
        if len(tensors) > 1 and (given := self._whole(tensors)) is not None:
            self.whole = given[0]
            return given[1:]
        best: tuple[float, NDArray[np.int64], str] = (0.0, np.empty(0, dtype=np.int64), "none")
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
        return best[1], best[2]

    def _whole(self, tensors: Sequence[Tensor]) -> tuple[Found, NDArray[np.int64], str] | None:
        """The parts of an observation that is a dictionary, or a tuple, given as tensors of their own."""
        arrays: list[NDArray[Any] | None] = []
        best: tuple[Found, NDArray[np.int64], str] | None = None
        for stream in self._likely():
            if not 0 < len(stream.layout) <= len(tensors):
                continue
            arrays = arrays or [to_numpy(each) for each in tensors]
            found = self.parts.find(tensors, arrays, stream)
            if found is None:
                continue
            ids = np.full(min(len(found.joined), ROWS), -1, dtype=np.int64)
            how = "none"
            if found.rows is not None:
                ids, how = self._known(found.rows[:ROWS]), "parts"
            if (ids < 0).any() and self.aliases:
                prints = row_fingerprints(found.joined[:ROWS].numpy(force=True))
                same = prints == self._learned[0]
                aliased = self._learned[1] if same else np.array([self._alias(fp) for fp in prints], dtype=np.int64)
                if _share(aliased) > _share(ids):
                    ids, how = np.where(ids < 0, aliased, ids), "alias"
            if best is None or _share(ids) > _share(best[1]):
                best = found, ids, how if _share(ids) else "none"
            if _share(ids) >= _ENOUGH:
                break
        return best

    def _known(self, rows: NDArray[Any]) -> NDArray[np.int64]:
        """By what they look like, or by what they looked like before they were changed."""
        prints = row_fingerprints(rows)
        ids = self.log.ids_of(prints)
        for place in np.flatnonzero(ids < 0) if self.aliases else ():
            ids[place] = self._alias(prints[place])
        return ids

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
                if before.fp != node.fp and self._is_part(self._looked_like.shape[1]):
                    self.aliases[fp] = _UNCLEAR  # the rest of the two may tell them apart: of a goal, a picture alone
                    continue
                # Another observation that looks the same to the network: neither can be told from the other any more.
                before.alike, node.alike = node.id, before.id
            if self.aliases.get(fp) != _UNCLEAR:
                self.aliases[fp] = node.id
        return self._learned[1]

    def _is_part(self, width: int) -> bool:
        """Of an observation that is several things, of which some network is given all: not as wide as these."""
        stream = self.log.newest
        if stream is None or len(stream.layout) < 2 or not any(each == stream.index for each, _ in self.parts.known):
            return False
        return bool(width <= max(math.prod(each.shape) for each in stream.layout))

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
            last = self._ended(current[lane])
            if last is None:
                return None
            ends[lane] = last
        for lane, last in ends.items():
            self.aliases[prints[lane]] = last
        return ends or None

    def nearly_learned(self, array: NDArray[Any]) -> bool:
        """Whether rows are all but those learned last: normalised once more, by statistics that have moved a little."""
        near, current = self._near(array), self.log.current(len(array)) if array.ndim else []
        if near is None:
            return False
        # Where an episode has just ended one of the two is its last observation, and the other the first of the next.
        return bool(near.mean() > 0.7 or _stayed(near, current).mean() > 0.7)

    def nearly_valued_last(self, array: NDArray[Any]) -> dict[int, int]:
        """As valued_last, where statistics have moved in between: of the lanes whose rows are far from those before."""
        near, current = self._near(array), self.log.current(len(array))
        if near is None or near.all() or [each.id for each in current] != self._learned[1].tolist():
            return {}
        ends = {lane: self._ended(current[lane]) for lane in np.flatnonzero(~near).tolist()}
        if any(each is None for each in ends.values()) or _stayed(near, current).mean() <= 0.7:
            return {}
        for lane, last in ends.items():
            self.aliases[self._learned[0][lane]] = int(last)  # type: ignore[arg-type]
        return {lane: int(last) for lane, last in ends.items() if last is not None}

    def _near(self, array: NDArray[Any]) -> NDArray[np.bool_] | None:
        before = self._looked_like
        if array.ndim < 2 or not len(before) or array.reshape(len(array), -1).shape != before.shape:
            return None
        away = np.abs(array.reshape(len(array), -1).astype(np.float64) - before).max(axis=1)
        return np.asarray(away < _NEARLY * (1.0 + np.abs(before).max(axis=1)))

    def _ended(self, node: Node) -> int | None:
        """The last observation of the episode before, where this is the first of one."""
        near = (self.log.get(node.id - 1), self.log.get(node.id + 1))
        ended = [each for each in near if each is not None and each.succ == node.id and not each.acted]
        if not node.first or not ended or (ended[0].stream, ended[0].lane) != (node.stream, node.lane):
            return None
        return ended[0].id

    def _match(self, array: NDArray[Any]) -> tuple[NDArray[np.int64], str]:
        best: tuple[float, NDArray[np.int64], str] = (0.0, np.empty(0, dtype=np.int64), "none")
        for stream in self._likely():
            key = (stream.index, array.shape[1:])
            known = self._last.get(key)
            for way in dict.fromkeys([known, *WAYS] if known in WAYS else WAYS):
                rows = WAYS[way](array, stream)
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
                for rows in slices(array, stream):
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
            for rows in () if best[0] else (part for stream in self._likely() for part in slices(array, stream)):
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
            *(("slice", part) for each in self._likely() for part in slices(array, each)),
        ):
            ids = self.columns.find(rows[:ROWS])
            if ids is None and max(_share(aliased), _share(raw)) < _ENOUGH:
                ids = self.moving.find(rows[:ROWS], self.columns.pairs)
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


def _stayed(near: NDArray[np.bool_], current: Sequence[Node]) -> NDArray[np.bool_]:
    """Of the lanes in which no episode has just begun, which are near; of all where there is none such."""
    lanes = [place for place, each in enumerate(current) if not each.first]
    return near[lanes] if lanes and len(current) == len(near) else near


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
