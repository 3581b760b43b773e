"""Numbers of tensors: how long they are together, in as few transfers from the device as can be."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

_NUMBERS = 4_000_000  # that are cloned to measure a step


def plain(tensor: Tensor) -> bool:
    """Not a subclass: of one that is spread over processes each number that is asked for is a message to all others."""
    return type(tensor) in (Tensor, nn.Parameter)


def measured(parameters: Sequence[Tensor]) -> list[Tensor]:
    """All of them, or of a large network the first that come to no more than can be cloned."""
    chosen: list[Tensor] = []
    left = _NUMBERS
    for each in parameters:
        if plain(each) and each.is_floating_point() and each.numel() <= left:
            chosen.append(each.detach())
            left -= each.numel()
    return chosen


def norms_of(tensors: Sequence[Tensor]) -> list[float]:
    """Of each; all in one transfer."""
    dense = [each.detach().coalesce().values() if each.is_sparse else each.detach() for each in tensors]
    if not dense:
        return []
    with torch.no_grad():
        norms = torch._foreach_norm(dense)
        found: list[float] = torch.stack([each.to(norms[0].device, torch.float32) for each in norms]).tolist()
    return found


def norm_of(tensors: Sequence[Tensor]) -> float:
    """Of all of them together, as one vector."""
    return math.hypot(*norms_of(tensors))


def number(value: Any) -> float | None:
    try:
        return float(value.detach() if isinstance(value, Tensor) else value)
    except (TypeError, ValueError, RuntimeError):
        return None
