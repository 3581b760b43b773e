"""Rows of what networks gave: a program may pick, join, pad or turn them before the next network is given them.

A row that comes out of one network and goes into another is the same numbers. It belongs to the observation that it was
computed from, also where a sequence was run step by step and put together again.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from rldebug.capture.fingerprints import row_fingerprints
from rldebug.capture.matching import ROWS, to_numpy

_KEPT = 1 << 16
_WIDE = 4  # numbers that a row has at least: fewer come by chance
_CELLS = 1 << 18
_ENOUGH = 0.1  # sequences are padded: most rows of a batch may be filling
_UNCLEAR = -2
_TRIED = 2  # audits: statistics that normalise nothing yet leave rows as they were


class RowTags:
    def __init__(self) -> None:
        self._ids: dict[int, int] = {}
        self._found = False
        self._audits = 0
        self._wanted = True  # most programs hand on whole tensors: where two audits needed no row, no other keeps any

    def clear(self) -> None:
        """At the end of an audit."""
        self._audits += bool(self._ids)
        self._wanted = self._found or self._audits < _TRIED
        self._ids.clear()

    def remember(self, output: Tensor, rows: NDArray[np.int64]) -> None:
        matrix = _matrix(output) if self._wanted else None
        if matrix is None or len(matrix) != len(rows) or not (rows >= 0).any():
            return
        if len(self._ids) > _KEPT:
            self._ids.clear()
        ids = self._ids
        for fp, id in zip(row_fingerprints(matrix), rows.tolist(), strict=True):
            # Two observations that look the same from there on cannot be told apart.
            ids[fp] = id if ids.get(fp, id) == id else _UNCLEAR

    def find(self, given: Tensor) -> NDArray[np.int64] | None:
        matrix = _matrix(given) if self._ids else None
        if matrix is None:
            return None
        found = np.array([self._ids.get(each, -1) for each in row_fingerprints(matrix[:ROWS])], dtype=np.int64)
        if (found >= 0).mean() < _ENOUGH:
            return None
        self._found = True
        return np.maximum(found, -1)


def _matrix(tensor: Tensor) -> NDArray[Any] | None:
    if tensor.dim() < 1 or tensor.shape[-1] < _WIDE or tensor.numel() > _CELLS:
        return None
    if not tensor.dtype.is_floating_point:
        return None
    array = to_numpy(tensor)
    return None if array is None else array.reshape(-1, array.shape[-1])
