"""Fingerprints: equal rows of numbers are found again by 64 bits, whatever they were cast to on the way.

The canonical form is float32: a float64 observation, its float32 copy in a buffer and the row a network is given agree.
Bytes of images are taken as they are: as float32 they would cost a hundred times as much. Python's own hash of bytes is
used: it is quick, and it only has to hold within one process.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def fingerprint(array: NDArray[Any]) -> int:
    if array.dtype == np.uint8:
        return hash(array.tobytes())
    # Adding zero turns -0.0 into 0.0: they are equal, and their bits are not.
    return hash((array.astype(np.float32) + np.float32(0)).tobytes())


def row_fingerprints(rows: NDArray[Any]) -> list[int]:
    """One for each row of a matrix."""
    if rows.dtype != np.uint8:
        rows = rows.astype(np.float32) + np.float32(0)
    rows = np.ascontiguousarray(rows)
    width = rows.dtype.itemsize * (rows.shape[1] if rows.ndim > 1 else 1)
    data = rows.tobytes()
    return [hash(data[start : start + width]) for start in range(0, len(data), width)] if width else []


def flat(value: Any) -> NDArray[Any] | None:
    """An observation as one array: of a dict or tuple the parts one after the other; None where it has no numbers."""
    if isinstance(value, np.ndarray):
        return value if value.dtype.kind in "fiub" else None
    if isinstance(value, (bool, int, float, np.generic)):
        array = np.asarray(value)
        return array if array.dtype.kind in "fiub" else None
    if isinstance(value, dict):
        parts = [flat(value[key]) for key in value]
    elif isinstance(value, (tuple, list)):
        try:
            array = np.asarray(value)
            if array.dtype.kind in "fiub":
                return array
        except ValueError:
            pass
        parts = [flat(each) for each in value]
    elif hasattr(value, "detach"):
        return np.asarray(value.detach().cpu().numpy())
    else:
        return None
    kept = [each.reshape(-1).astype(np.float32) for each in parts if each is not None]
    return np.concatenate(kept) if kept else None
