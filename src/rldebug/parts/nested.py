"""Observations may be dicts and tuples of arrays, at any depth: the few things that are done to all parts alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np


def each(change: Callable[[Any], Any], nested: Any) -> Any:
    """`change` of every array or tensor."""
    if isinstance(nested, Mapping):
        return {key: each(change, part) for key, part in nested.items()}
    return tuple(each(change, part) for part in nested) if isinstance(nested, tuple) else change(nested)


def stack(rows: Sequence[Any]) -> Any:
    """Single observations to one batch."""
    if isinstance(rows[0], Mapping):
        return {key: stack([row[key] for row in rows]) for key in rows[0]}
    if isinstance(rows[0], tuple):
        return tuple(stack(parts) for parts in zip(*rows, strict=True))
    return np.stack(rows)


def put(batch: Any, i: int, row: Any) -> None:
    """`batch[i] = row`, in place."""
    if isinstance(batch, Mapping):
        for key in batch:
            put(batch[key], i, row[key])
    elif isinstance(batch, tuple):
        for part, value in zip(batch, row, strict=True):
            put(part, i, value)
    else:
        batch[i] = row


def equal(one: Any, other: Any) -> bool:
    """The same arrays, bit for bit but for the payload of NaN."""
    if isinstance(one, Mapping):
        return one.keys() == other.keys() and all(equal(one[key], other[key]) for key in one)
    if isinstance(one, tuple):
        return len(one) == len(other) and all(equal(a, b) for a, b in zip(one, other, strict=True))
    return np.array_equal(one, other, equal_nan=np.asarray(one).dtype.kind == "f")
