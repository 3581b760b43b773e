"""Rows of a network that is given several observations for each answer: the newest of each stack is the row."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn

_MOST = 0.8  # of the stacks have their newest observation in one place
_RISE = 0.5  # and hold older ones beside it: else the same rows were repeated
_DEEP = 512
_CONVOLUTIONS = (nn.Conv1d, nn.Conv2d, nn.Conv3d)


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


def answers_each(given: Tensor, outputs: Sequence[Tensor], module: nn.Module) -> int:
    """How many answers a network gives, where it is given sequences and answers once for each; else 0."""
    if given.dim() < 3 or not outputs:
        return 0
    first, second = given.shape[:2]
    if any(each.dim() < 1 or each.shape[0] != first for each in outputs):
        return 0
    alike = [each for each in outputs if each.shape[:2] == (first, second)]
    # As many actions as frames in a stack, or an answer for each step?
    if alike and (any(each.dim() != 2 for each in alike) or not _takes_whole(module, given)):
        return 0
    return int(first)


def _takes_whole(module: nn.Module, given: Tensor) -> bool:
    """Whether a layer takes all that follows the first axis at once: frames are its channels, or are laid out flat."""
    size, channels, sides = given[0].numel(), given.shape[1], given.dim() - 2
    for each in module.modules():
        if isinstance(each, nn.Linear) and each.in_features == size:
            return True
        if isinstance(each, _CONVOLUTIONS) and each.in_channels == channels and len(each.kernel_size) == sides:
            return True
    return False
