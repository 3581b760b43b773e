"""Rows of a network that is given several observations for each answer: the newest of each stack is the row."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

_MOST = 0.8  # of the stacks have their newest observation in one place
_RISE = 0.5  # and hold older ones beside it: else the same rows were repeated
_DEEP = 512


def newest_frames(rows: NDArray[np.int64], count: int, *, sure: bool = False) -> NDArray[np.int64]:
    """One row for each stack, where rows are `count` stacks of observations, one behind the other; else as they are.

    `sure`: they are stacks; where nothing tells which is the newest, as in a first step, it is the last.
    """
    if count < 1 or len(rows) == count or len(rows) % count or not 2 <= len(rows) // count <= _DEEP:
        return rows
    stacks = rows.reshape(count, -1)
    for newest, oldest in ((-1, 0), (0, -1)):
        latest = stacks[:, newest]
        known = latest >= 0
        if known.mean() < _MOST:
            continue
        ordered = (stacks[known] <= latest[known, None]).all(axis=1)
        if ordered.mean() >= _MOST and (stacks[known, oldest] < latest[known]).mean() >= _RISE:
            return np.ascontiguousarray(latest)
    return np.ascontiguousarray(stacks[:, -1]) if sure else rows


def answers_each(given: Tensor, outputs: Sequence[Tensor]) -> int:
    """How many answers a network gives, where it is given sequences and answers once for each; else 0."""
    if given.dim() < 3 or not outputs:
        return 0
    first, second = given.shape[:2]
    if any(each.dim() < 1 or each.shape[0] != first or each.shape[:2] == (first, second) for each in outputs):
        return 0
    return int(first)
