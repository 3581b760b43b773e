"""What a network gave, bent element by element, and handed on: `self.cell(torch.tanh(self.features(x)), state)`.

An activation that is a function and no module gives a tensor that nobody has called. But it goes up where its input
goes up, element by element, and no other tensor of that size does so by chance.
"""

from __future__ import annotations

import threading
from collections import deque

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from rldebug.capture.matching import to_numpy

_CALLS = 6  # of networks, just before
_CELLS = 1 << 15
_HEAD = 16
_DIFFERENT = 8  # numbers that must be told apart: fewer are in order by chance


class Activated(threading.local):
    """Each thread has its own: what one computes is not handed on in another."""

    def __init__(self) -> None:
        self._given: deque[tuple[NDArray[np.int64], NDArray[np.float32]]] = deque(maxlen=_CALLS)

    def clear(self) -> None:
        self._given.clear()

    def remember(self, output: Tensor, rows: NDArray[np.int64]) -> None:
        matrix = _matrix(output, len(rows)) if (rows >= 0).any() else None
        if matrix is not None:
            self._given.append((rows, matrix))

    def find(self, given: Tensor) -> NDArray[np.int64] | None:
        """The rows that it was computed from; something else may stand behind it, as the last action."""
        for rows, output in reversed(self._given):
            matrix = _matrix(given, len(rows))
            if matrix is not None and matrix.shape[1] >= output.shape[1] and _goes_up(output, matrix):
                return rows
        return None


def _goes_up(output: NDArray[np.float32], given: NDArray[np.float32]) -> bool:
    bent, before = given[:, : output.shape[1]].ravel(), output.ravel()
    if (np.diff(bent[:_HEAD][np.argsort(before[:_HEAD])]) < 0.0).any():
        return False  # nearly always; to sort all of it takes longer
    steps = np.diff(bent[np.argsort(before)])
    return bool((steps >= 0.0).all() and np.count_nonzero(steps) >= _DIFFERENT)


def _matrix(tensor: Tensor, count: int) -> NDArray[np.float32] | None:
    if not tensor.is_floating_point() or tensor.numel() > _CELLS or not count or tensor.numel() % count:
        return None
    array = to_numpy(tensor)
    return None if array is None else np.array(array, dtype=np.float32).reshape(count, -1)


__all__ = ["Activated"]
