"""What environments hand over, as plain values; and references to environments that do not keep them alive."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any
from weakref import ref

import numpy as np

STILL = object()  # in place of an observation: this lane took no part in the call


def parts_of(value: Any, lanes: int) -> Sequence[Any]:
    if isinstance(value, dict):
        return [{key: each[lane] for key, each in value.items()} for lane in range(lanes)]
    if isinstance(value, tuple) and len(value) != lanes:
        return [tuple(each[lane] for each in value) for lane in range(lanes)]
    if isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype.kind in "iu":
        return list(value.tolist())
    return [value[lane] for lane in range(lanes)]


def copied(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.copy()
    return [copied(each) for each in value] if isinstance(value, (list, tuple)) else value


def one(value: Any) -> Any:
    if isinstance(value, np.ndarray) and value.ndim == 0 and value.dtype.kind in "iu":
        return int(value)
    return int(value) if isinstance(value, np.integer) else value


def number(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        array = np.ravel(np.asarray(value, dtype=np.float64))
        return float(array[0]) if array.size else math.nan


def flag(value: Any) -> bool:
    return bool(value) if not isinstance(value, np.ndarray) else bool(value.any())


def inner_of(env: Any) -> Any:
    try:
        return getattr(env, "unwrapped", env)
    except Exception:
        return env


def weak(thing: Any) -> Any:
    try:
        return ref(thing)
    except TypeError:
        return lambda: thing  # a class with slots


def strong(reference: Any) -> Any:
    return reference()


def seed_of(original: Any, args: Any, kwargs: Any) -> Any:
    """The seed that reset was called with, however it was given."""
    if "seed" in kwargs or not args:
        return kwargs.get("seed")
    code = getattr(original, "__code__", None)
    names = code.co_varnames[1 : code.co_argcount] if code is not None else ()
    return args[names.index("seed")] if "seed" in names[: len(args)] else None
