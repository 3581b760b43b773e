"""Ways back: from the rows that a network is given to the observations as the environment gave them.

Programs cast, flatten, scale bytes to 0…1, move the channels, append an action. Each way gives rows with one
observation each, or None where it cannot be the one that was gone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray


class Shown(Protocol):
    """What observations look like: of a stream, or of a part of them."""

    @property
    def shape(self) -> tuple[int, ...] | None: ...

    @property
    def dtype(self) -> str: ...

    @property
    def facts(self) -> Mapping[str, Any]: ...


Way = Callable[[NDArray[Any], Shown], "NDArray[Any] | None"]


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


def _raw(array: NDArray[Any], stream: Shown) -> NDArray[Any] | None:
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


def _scaled(array: NDArray[Any], stream: Shown) -> NDArray[Any] | None:
    """Bytes as shares of 255."""
    rows = as_rows(array, stream.shape or ())
    return None if rows is None or stream.dtype != "uint8" or rows.dtype.kind != "f" else _bytes(rows * 255.0)


def _centred(array: NDArray[Any], stream: Shown) -> NDArray[Any] | None:
    """Bytes as numbers from -1 to 1, or from -0.5 to 0.5."""
    rows = as_rows(array, stream.shape or ())
    if rows is None or stream.dtype != "uint8" or rows.dtype.kind != "f":
        return None
    for factor in (127.5, 255.0):
        found = _bytes((rows + 127.5 / factor) * factor)
        if found is not None:
            return found
    return None


def _channels_first(array: NDArray[Any], stream: Shown) -> NDArray[Any] | None:
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


def _one_hot(array: NDArray[Any], stream: Shown) -> NDArray[Any] | None:
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


def slices(array: NDArray[Any], stream: Shown) -> Iterator[NDArray[Any]]:
    """The observation is a part of the input: with an action after it, or the newest of a stack of frames."""
    size = math.prod(stream.shape or (1,))
    if stream.dtype == "uint8" or array.ndim < 2 or array.shape[-1] <= size or size < 2:
        return
    rows = array.reshape(-1, array.shape[-1])
    yield rows[:, :size]
    yield rows[:, -size:]


WAYS: dict[str, Way] = {
    "raw": _raw,
    "scaled": _scaled,
    "channels-first": _channels_first,
    "centred": _centred,
    "one-hot": _one_hot,
}
