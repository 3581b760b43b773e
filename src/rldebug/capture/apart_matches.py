"""Whether what a network was given is what an object showed: the same numbers, or the same in another scale or code."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

_WIDE = 1 << 16  # numbers
_SEVERAL = 5  # pairs, of which the scale is told
_KINDS = 16  # different numbers that may have a code each

Floats = NDArray[np.float64]


def given_to(args: Any) -> list[Floats]:
    """The tensors that a network is called with, as numbers in a row."""
    found = []
    for each in args:
        if not isinstance(each, torch.Tensor) or not 0 < each.numel() <= _WIDE or each.is_sparse or each.is_meta:
            continue
        if each.device.type == "cuda" and torch.cuda.is_current_stream_capturing():
            continue
        try:
            found.append(each.detach().cpu().reshape(-1).double().numpy())
        except (RuntimeError, TypeError):
            continue  # a batched tensor of torch.func
    return found


def numbers_in(obs: Any) -> Floats | None:
    array = np.asarray(obs)
    if array.dtype.kind not in "fiub" or not 0 < array.size <= _WIDE:
        return None
    return array.reshape(-1).astype(np.float64)


def is_same(seen: Floats, given: Floats) -> bool:
    """The very numbers, but for their type."""
    return seen.size == given.size and np.array_equal(seen.astype(np.float32), given.astype(np.float32))


def follows(pairs: list[tuple[Floats, Floats]]) -> bool:
    """Whether all that a network was given comes, number by number, from what was seen: in scale, or as codes."""
    if len(pairs) < _SEVERAL or len({(a.size, b.size) for a, b in pairs}) != 1:
        return False
    seen, given = (np.stack(each) for each in zip(*pairs, strict=True))
    if len(np.unique(seen, axis=0)) < _SEVERAL - 1 or not (given.std(axis=0) > 0).any():
        return False
    if seen.shape[1] == given.shape[1] and _scaled(seen, given):
        return True
    size, rest = divmod(given.shape[1], seen.shape[1])
    if rest or len(np.unique(seen)) > _KINDS or (seen != np.round(seen)).any():
        return False
    whole = np.repeat(seen, size, axis=1), np.tile(seen, (1, size))
    return any(_coded(each, given) for each in whole)


def _scaled(seen: Floats, given: Floats) -> bool:
    mean, middle = seen.mean(axis=0), given.mean(axis=0)
    x, y = seen - mean, given - middle
    spread = (x * x).sum(axis=0)
    moving = spread > 1e-12 * np.maximum(mean * mean, 1e-6)
    slope = np.where(moving, (x * y).sum(axis=0) / np.where(moving, spread, 1.0), 0.0)
    close = np.abs(y - slope * x) <= 1e-4 * np.abs(y).max(axis=0) + 1e-6
    # One column alone may go up and down with another by chance; numbers that stand still say nothing.
    return (
        bool(close.all())
        and bool((slope[moving] != 0).all())
        and len(np.unique(seen[:, moving], axis=0)) >= _SEVERAL - 1
    )


def _coded(seen: Floats, given: Floats) -> bool:
    """At each place, the same number is always given as the same; and there are enough that come again."""
    again = 0
    for column, code in zip(seen.T, given.T, strict=True):
        kinds, which = np.unique(column, return_inverse=True)
        for kind in range(len(kinds)):
            own = code[which == kind]
            if (own != own[0]).any():
                return False
            again += len(own) - 1 if len(kinds) > 1 else 0
    return again >= 4 * _SEVERAL
