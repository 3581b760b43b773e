"""From what a network is given to what can be shown of it: its numbers, and a picture where it is one."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rldebug.capture.png import Pixels

VALUES = 64
_SMALLEST = 16  # pixels a side: what is smaller is a vector or a table
_LARGEST = 256
_CHANNELS = 16
_TILES = 8  # frames of a stack, side by side
_MANY = 1 << 20  # numbers: of more than these, mean and spread are taken of some


def array_of(value: Any) -> NDArray[Any] | None:
    """A copy on the host, of an array, a tensor or a number; None where it holds no numbers. Never part of a graph."""
    if hasattr(value, "detach"):
        value = value.detach()
        if value.is_cuda and _recorded_for_replay():
            return None  # a copy to the host would end the recording
        if value.dtype.is_floating_point and value.dtype.itemsize < 4:
            value = value.float()
        value = value.cpu().numpy()
    elif not isinstance(value, (np.ndarray, np.generic, bool, int, float)):
        return None
    array = np.array(value)
    return array if array.dtype.kind in "fiub" and array.size else None


def _recorded_for_replay() -> bool:
    import torch  # it is there: a tensor was given

    return bool(torch.cuda.is_current_stream_capturing())


def side(array: NDArray[Any], dtype: str = "") -> tuple[dict[str, Any], Pixels | None]:
    """What the index says of it, but for the name of its picture; and the picture."""
    picture = picture_of(array)
    numbers = array.reshape(-1)
    if numbers.size > _MANY:
        numbers = numbers[:: math.ceil(numbers.size / _MANY)]
    finite = numbers[np.isfinite(numbers)].astype(np.float64)
    low, high = array.min(), array.max()
    told = {
        "shape": list(array.shape),
        "dtype": dtype or str(array.dtype),
        "min": _number(low if np.isfinite(low) else finite.min() if finite.size else math.nan),
        "max": _number(high if np.isfinite(high) else finite.max() if finite.size else math.nan),
        "mean": _number(finite.mean() if finite.size else math.nan),
        "std": _number(finite.std() if finite.size else math.nan),
        "png": None,
        "values": None if picture is not None else [_number(each) for each in array.reshape(-1)[:VALUES]],
    }
    return told, picture


def picture_of(array: NDArray[Any]) -> Pixels | None:
    """(height, width), with channels after or before them, or several of those: stacked frames stand side by side."""
    frames = _frames(array)
    if not frames:
        return None
    frames = [_smaller(each, _LARGEST) for each in frames[:_TILES]]
    if array.dtype != np.uint8:
        frames = _as_bytes(frames)
    if len(frames) == 1:
        return np.ascontiguousarray(frames[0])
    gap = np.full((frames[0].shape[0], 2, *frames[0].shape[2:]), 255, dtype=np.uint8)
    return np.concatenate([part for each in frames for part in (each, gap)][:-1], axis=1)


def _frames(array: NDArray[Any]) -> list[NDArray[Any]]:
    """Each (height, width) or (height, width, 3)."""
    while array.ndim > 2 and array.shape[0] == 1:
        array = array[0]
    if array.ndim == 2:
        return [array] if min(array.shape) >= _SMALLEST else []
    if array.ndim == 4:
        if len(array) > _CHANNELS:
            return []
        parts = [_frames(each) for each in array]
        return [each for part in parts for each in part] if all(parts) else []
    if array.ndim != 3:
        return []
    if array.shape[2] <= _CHANNELS and min(array.shape[:2]) >= _SMALLEST:
        last = array
    elif array.shape[0] <= _CHANNELS and min(array.shape[1:]) >= _SMALLEST:
        last = np.moveaxis(array, 0, 2)
    else:
        return []
    count = last.shape[2]
    if count % 3 == 0:
        return [last[:, :, place : place + 3] for place in range(0, count, 3)]
    return [last[:, :, place] for place in range(count)]


def _smaller(frame: NDArray[Any], most: int) -> NDArray[Any]:
    """By leaving out rows and columns: what is left are numbers that were there."""
    step = math.ceil(max(frame.shape[:2]) / most)
    return frame[::step, ::step]


def _as_bytes(frames: list[NDArray[Any]]) -> list[Pixels]:
    """The range of all of them, from black to white."""
    stack = np.stack(frames).astype(np.float64)
    known = stack[np.isfinite(stack)]
    low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
    scaled = (np.nan_to_num(stack, nan=low, posinf=high, neginf=low) - low) * (255.0 / ((high - low) or 1.0))
    return list(np.rint(scaled).astype(np.uint8))


def _number(value: Any) -> float | None:
    number = float(value)
    return number if math.isfinite(number) else None
