"""Numbers that lie around where a program begins to learn from sequences: one for each of them, or one row.

In variables of the functions that are running; in what these hold: dictionaries, tuples with names, objects of the
program's own classes; and in lists of such objects, one for each sequence, whose fields are put together again.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from types import FrameType
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from rldebug.capture.matching import to_numpy
from rldebug.capture.place import is_users

_MOST = 32  # arrays that are kept
_SEEN = 160  # that are looked at: floats come first
_VALUES = 8192  # of one of them
_DEEP = 3
_WIDE = 64
_FEW, _MANY = 4, 1024  # objects in a list, one for each sequence

Named = tuple[str, NDArray[Any]]


def held(frame: FrameType | None, lengths: set[int]) -> list[Named]:
    found: list[Named] = []
    seen: set[int] = set()
    while frame is not None and len(found) < _SEEN:
        if is_users(frame.f_code.co_filename) and "locals" not in frame.f_code.co_names:
            function = bool(frame.f_code.co_flags & 0x1)
            variables = frame.f_locals
            for name, value in list(variables.items()):
                found += _numbers(name, value, lengths, seen, _DEEP)
            if function and sys.version_info < (3, 13):
                variables.clear()  # a copy that would keep the program's tensors alive
        frame = frame.f_back
    return sorted(found, key=lambda each: each[1].dtype.kind != "f")[:_MOST]


def _numbers(name: str, value: Any, lengths: set[int], seen: set[int], deep: int) -> Iterator[Named]:
    """Arrays of numbers with one entry, or one row, for each sequence."""
    if value is None or isinstance(value, (str, bytes, int, float, type)) or id(value) in seen:
        return
    kind = type(value)
    if isinstance(value, (Tensor, np.ndarray)):
        array = None if isinstance(value, torch.nn.Parameter) else _array(value, lengths, seen)
        if array is not None:
            yield name, array
    elif deep > 0 and (kind in (list, tuple, dict) or _has_names(value)):
        seen.add(id(value))
        if kind in (list, tuple) and value:
            together = _together(name, value, lengths)
            if together is not None:
                yield from together
                return
        for path, each in _inside(name, value):
            yield from _numbers(path, each, lengths, seen, deep - 1)
    elif deep > 0 and not isinstance(value, torch.nn.Module) and is_users(_file_of(kind)):
        seen.add(id(value))
        for key, each in list(_fields(value).items())[:_WIDE]:
            yield from _numbers(f"{name}.{key}", each, lengths, seen, deep - 1)


def _has_names(value: Any) -> bool:
    return isinstance(value, tuple) and hasattr(type(value), "_fields")


def _array(value: Tensor | NDArray[Any], lengths: set[int], seen: set[int]) -> NDArray[Any] | None:
    seen.add(id(value))
    if value.ndim not in (1, 2) or (len(value) not in lengths and value.shape[-1] not in lengths):
        return None
    size = value.numel() if isinstance(value, Tensor) else value.size
    array = to_numpy(value) if isinstance(value, Tensor) else value
    return np.array(array) if size <= _VALUES and array is not None and array.dtype.kind in "fbiu" else None


def _inside(name: str, value: Any) -> list[tuple[str, Any]]:
    if _has_names(value):
        return [(f"{name}.{key}", getattr(value, key, None)) for key in value._fields[:_WIDE]]
    if isinstance(value, Mapping):
        return [(f"{name}[{key!r}]", each) for key, each in list(value.items())[:_WIDE]]
    return [(f"{name}[{place}]", each) for place, each in enumerate(value[:_WIDE])]


def _together(name: str, items: Sequence[Any], lengths: set[int]) -> list[Named] | None:
    """A list that is one array: of numbers, of vectors step by step, or of objects with the same fields."""
    first = type(items[0])
    if len(items) > _MANY or any(type(each) is not first for each in items):
        return _vector(name, items, lengths) if len(items) in lengths else None
    if issubclass(first, (int, float)):
        return _vector(name, items, lengths) or []
    if issubclass(first, (Tensor, np.ndarray)):
        same = len({tuple(each.shape) for each in items}) == 1 and items[0].ndim == 1 and len(items) > 1
        if not same and len(items) >= _FEW and all(each.ndim == 1 and len(each) for each in items):
            column = _column(items)
            return None if column is None else [(f"{name}[]", column)]
        if not same or len(items[0]) not in lengths or len(items) * len(items[0]) > _VALUES:
            return None
        arrays = [to_numpy(each) if isinstance(each, Tensor) else each for each in items]
        known = [each for each in arrays if each is not None and each.dtype.kind in "fbiu"]
        return [(name, np.stack(known, axis=1))] if len(known) == len(items) else None
    records = [_fields(each) for each in items] if len(items) >= _FEW else []
    if not records or not records[0] or any(each.keys() != records[0].keys() for each in records):
        return None
    columns = ((key, _column([each[key] for each in records])) for key in list(records[0])[:_WIDE])
    return [(f"{name}[].{key}", array) for key, array in columns if array is not None and array.size <= _VALUES]


def _vector(name: str, items: Sequence[Any], lengths: set[int]) -> list[Named] | None:
    if len(items) not in lengths or not all(isinstance(each, (int, float)) for each in items):
        return None
    return [(name, np.array(items, dtype=np.float64))]


def _fields(value: Any) -> Mapping[str, Any]:
    if isinstance(value, dict):
        return value
    if _has_names(value):
        return {key: getattr(value, key, None) for key in value._fields}
    kind = type(value)
    if isinstance(value, torch.nn.Module) or not is_users(_file_of(kind)):
        return {}
    slots = [key for key in getattr(kind, "__slots__", ()) if isinstance(key, str) and hasattr(value, key)]
    return {**getattr(value, "__dict__", {}), **{key: getattr(value, key) for key in slots}}


def _column(values: Sequence[Any]) -> NDArray[Any] | None:
    """One number of each, or a few of each: those that have fewer are filled up."""
    plain = [each.detach().cpu() if isinstance(each, Tensor) else each for each in values]
    if all(isinstance(each, (int, float)) or getattr(each, "ndim", None) == 0 for each in plain):
        return np.array([float(each) for each in plain])
    rows = [each for each in plain if isinstance(each, (list, tuple, Tensor, np.ndarray))]
    if len(rows) < len(plain) or sum(map(len, rows)) > _VALUES or any(getattr(each, "ndim", 1) != 1 for each in rows):
        return None
    if any(not isinstance(each, (int, float)) for row in rows if isinstance(row, (list, tuple)) for each in row):
        return None
    arrays = [np.asarray(each, dtype=np.float64) for each in rows]
    whole = all(np.array_equal(each, np.round(each)) for each in arrays)
    found = np.full((len(arrays), max(map(len, arrays))), -1.0 if whole else np.nan)
    for place, each in enumerate(arrays):
        found[place, : len(each)] = each
    return found.astype(np.int64) if whole else found


def _file_of(kind: type) -> str:
    return str(getattr(sys.modules.get(kind.__module__), "__file__", "") or "")
