"""Parts of what a network with a memory is asked at once: of each sequence the same steps, without the first, the last.

Q-learning on sequences asks about one step more than it learns from, `q[:, :-1]` against `q[:, 1:]`, and may leave the
steps out that only warm the memory up.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

_MOST = 64  # steps that a window may begin at


def windows(shape: Sequence[int], rows: int, count: int) -> Iterator[Ints]:
    """Places among the rows of a call, for each part of `count` rows. shape: of its output."""
    if len(shape) != 3 or shape[0] * shape[1] != rows or not 0 < count < rows:
        return
    places = np.arange(rows).reshape(shape[0], shape[1])
    sequences, length = shape[0], shape[1]
    if sequences > 1 and count % sequences == 0:
        steps = count // sequences
        for begin in range(min(length - steps + 1, _MOST)):
            yield places[:, begin : begin + steps].ravel()
    if length > 1 and count % length == 0:  # time first
        steps = count // length
        for begin in range(min(sequences - steps + 1, _MOST)):
            yield places[begin : begin + steps].ravel()
