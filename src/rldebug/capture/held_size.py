"""How much a container holds, and by what it is known again, without a call of anything that the user wrote."""

from __future__ import annotations

import ctypes
import sys
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice, pairwise
from types import GetSetDescriptorType, MemberDescriptorType, ModuleType
from typing import Any

import numpy as np
from torch import Tensor, nn

_PAIRS = 8  # neighbours that are looked at in a container
_PARTS = 16  # of one thing that is held
_NESTED = 3
_ENTRIES = 64  # of a dict, that names lead to
_ATTRIBUTES = 256
_SHORT = 8  # lists whose items are walked into
_SET = 50_000
_MARK = 32  # bytes
_SOME = 61  # numbers of an array
_HEAP_TYPE = 1 << 9  # of Py_TPFLAGS: a class that was written in Python, as a rule
_CONTAINERS = (list, deque, dict, set)
_PLAIN = (int, float, bool, complex, str, bytes, type(None))

# As `type` itself gives them: a metaclass may answer otherwise, and with code of its own.
_flags: Callable[[type], int] = type.__dict__["__flags__"].__get__
_mro: Callable[[type], tuple[type, ...]] = type.__dict__["__mro__"].__get__
_namespace: Callable[[type], Any] = type.__dict__["__dict__"].__get__
_maxlen: Callable[[Any], int | None] = deque.__dict__["maxlen"].__get__
_OF_MODULES = frozenset(vars(nn.Module()))

Mark = tuple[int, int]  # address and content of an item


@dataclass(frozen=True)
class Look:
    """One look at a container or an array."""

    address: int
    items: int
    bytes: int
    graphs: int = 0
    bounded: bool = False  # it never gets longer than it may
    array: bool = False  # it cannot grow: another takes its place
    marks: tuple[Mark, ...] = ()


def look_at(thing: Any) -> Look | None:
    """None where it is nothing that could grow."""
    kind = type(thing)
    if kind is np.ndarray or kind is Tensor:
        rows = int(thing.shape[0]) if thing.ndim else 1
        graph = kind is Tensor and _has_graph(thing)
        return Look(id(thing), rows, int(thing.nbytes), int(graph), array=True, marks=((0, _content(thing)),))
    base = next((each for each in _CONTAINERS if issubclass(kind, each)), None)
    if base is None:
        return None
    items = base.__len__(thing)
    pairs = list(_pairs(base, thing, items))
    bytes_, graphs = 0, 0
    for first, second in pairs:
        # Only what the second adds: the next observation of one transition is the observation of the next.
        tally = _Tally()
        for each in first:
            tally.add(each)
        before, tally.graph = tally.bytes, False
        for each in second:
            tally.add(each)
        bytes_ += tally.bytes - before
        graphs += tally.graph
    share = items / len(pairs) if pairs else 0.0
    return Look(
        id(thing),
        items,
        base.__sizeof__(thing) + round(share * bytes_),
        round(share * graphs),
        base is deque and _maxlen(thing) is not None,
        marks=tuple(_marks(base, thing, items)),
    )


def goes_on(before: Look, now: Look, thing: Any) -> bool:
    """Whether it is what was seen before, with more in it. A list of a thousand ones is like any other such list."""
    if now.array:
        return now.address == before.address or (any(before.marks[0]) and now.marks == before.marks)
    if now.address != before.address or now.items < before.items:
        return False
    if issubclass(type(thing), set):
        return now.items > _SET or {each for each, _ in before.marks} <= {id(each) for each in set.__iter__(thing)}
    return now.marks[: len(before.marks)] == before.marks and len({content for _, content in before.marks}) > 1


def parts_of(thing: Any) -> Iterator[tuple[str, Any]]:
    """What a thing holds, with the step that leads there: .memory, ['obs'], [0]."""
    kind = type(thing)
    if issubclass(kind, dict):
        for key, each in list(islice(dict.items(thing), _ENTRIES)):
            if type(key) is str or type(key) is int:
                yield f"[{key!r}]", each
    elif issubclass(kind, (list, tuple)):
        base = list if issubclass(kind, list) else tuple
        if base.__len__(thing) <= _SHORT:
            for place, each in enumerate(base.__iter__(thing)):
                yield f"[{place}]", each
    if not _flags(kind) & _HEAP_TYPE or issubclass(kind, (type, ModuleType, Tensor)):
        return
    if str(_namespace(kind).get("__module__")).startswith("rldebug.capture"):
        return
    for name, each in islice(_attributes(thing), _ATTRIBUTES):
        if name.isidentifier() and not (name.startswith("__") and name.endswith("__")):
            yield f".{name}", each


# ── items ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def _pairs(base: Any, thing: Any, items: int) -> Iterator[tuple[tuple[Any, ...], tuple[Any, ...]]]:
    """Neighbours, from all over a sequence; from the start of what has no places. Of a dict, with their keys."""
    if items < 2:
        yield from (((), each) for each in _first(base, thing, 1))
    elif base is list or base is deque:
        count = min(_PAIRS, items - 1)
        for place in (each * (items - 1) // count for each in range(count)):
            yield (base.__getitem__(thing, place),), (base.__getitem__(thing, place + 1),)
    else:
        first = _first(base, thing, _PAIRS + 1)
        yield from pairwise(first)


def _first(base: Any, thing: Any, count: int) -> list[tuple[Any, ...]]:
    return list(islice(dict.items(thing) if base is dict else zip(base.__iter__(thing)), count))


def _marks(base: Any, thing: Any, items: int) -> Iterator[Mark]:
    """The items 0, 1, 2, 4, 8 …: those of a list are among those of the same list when it is longer."""
    if base is list or base is deque:
        place = 0
        while place < items:
            each = base.__getitem__(thing, place)
            yield id(each), _content(each)
            place = 2 * place or 1
    elif base is dict:
        for key, each in _first(base, thing, _PAIRS):
            # Other dicts have such keys too; of any other, the values may change while it grows.
            each = each if type(key) in (int, str) else key
            yield id(key) ^ id(each), _content(each)
    else:
        yield from ((id(each), 0) for (each,) in _first(base, thing, _PAIRS))


def _content(thing: Any, deep: int = 0) -> int:
    """What it says, where that can be read at once: addresses are used again. 0 for an array of zeros."""
    kind = type(thing)
    if kind in _PLAIN:
        return hash(thing)
    if kind is np.ndarray:
        readable = thing.flags.c_contiguous and not thing.dtype.hasobject
        flat = thing.reshape(-1) if readable else thing[:0]
        start = flat[:4].tobytes()[:_MARK]
        if not any(start):  # the corner of a picture is black in all of them
            start = flat[:: max(1, flat.size // _SOME)][:_SOME].tobytes()
        return hash(start) if any(start) else 0
    if kind is Tensor:
        if thing.device.type != "cpu" or not thing.is_contiguous() or not thing.data_ptr():
            return id(thing)
        end = thing.storage_offset() * thing.element_size() + thing.nbytes
        if thing.untyped_storage().nbytes() < end:
            return id(thing)  # its memory was given back under it
        start = ctypes.string_at(thing.data_ptr(), min(thing.nbytes, _MARK))
        return hash(start) if any(start) else 0
    if kind is tuple and deep < _NESTED:
        return hash(tuple(_content(each, deep + 1) for each in thing[:4]))
    return id(thing)


# ── bytes ───────────────────────────────────────────────────────────────────────────────────────────────────────────


class _Tally:
    """Bytes of some things together; whether one of them holds a graph of autograd."""

    def __init__(self) -> None:
        self.bytes = 0
        self.graph = False
        self._seen: set[int] = set()

    def add(self, thing: Any, deep: int = 0) -> None:
        if thing is None or id(thing) in self._seen:
            return
        self._seen.add(id(thing))
        kind = type(thing)
        if kind is np.ndarray:
            self.bytes += max(sys.getsizeof(thing), int(thing.nbytes))
            return
        if issubclass(kind, Tensor):
            if kind is Tensor or kind is nn.Parameter:
                self.bytes += int(thing.nbytes)
                self.graph = self.graph or _has_graph(thing)
            return
        heap = bool(_flags(kind) & _HEAP_TYPE)
        base = next((each for each in (*_CONTAINERS, tuple) if issubclass(kind, each)), None)
        if base is not None:
            self.bytes += base.__sizeof__(thing)
            if deep < _NESTED:
                for entry in _first(base, thing, _PARTS):
                    for each in entry:
                        self.add(each, deep + 1)
        else:
            self.bytes += object.__sizeof__(thing) if heap else sys.getsizeof(thing)
        if heap and deep < _NESTED and not issubclass(kind, (type, ModuleType, nn.Module)):
            for _, each in islice(_attributes(thing), _PARTS):
                self.add(each, deep + 1)


def _has_graph(tensor: Tensor) -> bool:
    return tensor.requires_grad and not tensor.is_leaf  # to ask for its grad_fn would make an object of it


def _attributes(thing: Any) -> Iterator[tuple[str, Any]]:
    """What lies in an object itself, its slots too. Properties are of its class, and not asked."""
    kind = type(thing)
    for each in _mro(kind):
        own = _namespace(each)
        if "__slots__" in own and _flags(each) & _HEAP_TYPE:
            for name, found in list(own.items()):
                if type(found) is MemberDescriptorType:
                    try:
                        yield name, found.__get__(thing)
                    except AttributeError:
                        pass  # nothing was put there yet
        found = own.get("__dict__")
        if type(found) is GetSetDescriptorType:
            inside = found.__get__(thing)
            if issubclass(kind, nn.Module):
                theirs = {name: part for name, part in inside.items() if name not in _OF_MODULES}
                inside = {**theirs, **inside.get("_modules", {})}
            yield from [(name, part) for name, part in inside.items() if type(name) is str]
