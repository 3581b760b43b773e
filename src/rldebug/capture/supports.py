"""Supports within reach of a loss: the returns that the atoms of a learned distribution stand for.

The loss itself holds chances only. The atoms lie in a buffer, an attribute or a variable nearby, under any name: a row
of numbers, evenly spaced. Nothing of the program's is called.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import FrameType, ModuleType
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from rldebug.capture.place import is_users
from rldebug.capture.registry import locals_of

_FEWEST, _MOST = 5, 512
_FLOATS = (torch.float32, torch.float64)
_NAMES = 400  # of one namespace
_FRAMES = 16


def supports(frame: FrameType | None) -> set[tuple[int, float, float]]:
    """How many, the first and the last, of each row of evenly spaced numbers in the user's frames, outwards."""
    found: set[tuple[int, float, float]] = set()
    for _ in range(_FRAMES):
        if frame is None:
            break
        if is_users(frame.f_code.co_filename):
            variables = locals_of(frame)
            found |= _of(variables)
            for held in list(variables.values())[:_NAMES]:
                found |= _of(_fields(held))
        frame = frame.f_back
    return found


def _of(space: Mapping[str, Any]) -> set[tuple[int, float, float]]:
    rows = [row for value in list(space.values())[:_NAMES] if (row := _row(value)) is not None]
    even = [row for row in rows if row[-1] > row[0] and np.ptp(np.diff(row)) <= 1e-4 * (row[-1] - row[0])]
    return {(len(row), float(row[0]), float(row[-1])) for row in even}


def _fields(thing: Any) -> Mapping[str, Any]:
    """What lies in an object, without asking it."""
    if isinstance(thing, (type, ModuleType, Tensor, np.ndarray)):
        return {}
    try:
        inside = object.__getattribute__(thing, "__dict__")
    except AttributeError:
        return {}
    if not isinstance(inside, dict):
        return {}
    return {**inside, **inside.get("_buffers", {})} if isinstance(thing, nn.Module) else inside


def _row(value: Any) -> np.ndarray[Any, np.dtype[np.float64]] | None:
    if type(value) is Tensor:
        plain = value.device.type == "cpu" and value.layout == torch.strided and value.dtype in _FLOATS
        if not plain or value.requires_grad:
            return None
    elif type(value) is not np.ndarray or value.dtype.kind != "f":
        return None
    count = max(value.shape, default=0)
    if not _FEWEST <= count <= _MOST or int(np.prod(value.shape)) != count:
        return None
    return np.asarray(value, dtype=np.float64).ravel()
