"""Numbers that are not drawn: stands in for torch and numpy, so that the noise a function adds is known."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest import mock

import numpy as np
import torch

from rldebug.oracles.material.twin_tables import NORMALS
from rldebug.oracles.oracle import Array


def _standard(shape: Any) -> Array:
    """In place of normal numbers: always the same, whatever the shape."""
    return np.resize(np.asarray(NORMALS), shape)


def _even(shape: Any) -> Array:
    """In place of numbers between 0 and 1."""
    return np.resize(np.asarray((0.25, 0.875, 0.5)), shape)


def _shape(size: tuple[Any, ...]) -> tuple[int, ...]:
    whole = size[0] if len(size) == 1 and not isinstance(size[0], int) else size
    return tuple(int(each) for each in whole)


def _tensor_normal(mean: Any = 0.0, std: Any = 1.0, size: Any = None, **_: Any) -> torch.Tensor:
    shape = size if size is not None else np.broadcast_shapes(np.shape(mean), np.shape(std))
    made: torch.Tensor = torch.tensor(_standard(tuple(shape)), dtype=torch.float32) * std + mean
    return made


def _array_normal(loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
    shape = size if size is not None else np.broadcast_shapes(np.shape(loc), np.shape(scale))
    return _standard(shape) * scale + loc


def _normal_(tensor: torch.Tensor, mean: float = 0.0, std: float = 1.0, **_: Any) -> torch.Tensor:
    return tensor.copy_(torch.tensor(_standard(tuple(tensor.shape))) * std + mean)


@contextmanager
def not_random() -> Iterator[None]:
    """Normal numbers of torch and numpy are replaced, so that the noise of a function is known."""
    replaced = [
        (torch, "randn_like", lambda like, **_: torch.tensor(_standard(tuple(like.shape)), dtype=torch.float32)),
        (torch, "randn", lambda *size, **_: torch.tensor(_standard(_shape(size)), dtype=torch.float32)),
        (torch, "normal", _tensor_normal),
        (torch.Tensor, "normal_", _normal_),
        (torch, "rand_like", lambda like, **_: torch.tensor(_even(tuple(like.shape)), dtype=torch.float32)),
        (torch, "rand", lambda *size, **_: torch.tensor(_even(_shape(size)), dtype=torch.float32)),
        (np.random, "uniform", lambda low=0.0, high=1.0, size=None: low + (high - low) * _even(size or ())),
        (np.random, "normal", _array_normal),
        (np.random, "randn", lambda *size: _standard(_shape(size)) if size else NORMALS[0]),
        (np.random, "standard_normal", lambda size=None: _standard(() if size is None else size)),
    ]
    with ExitStack() as stack:
        for holder, name, stand_in in replaced:
            stack.enter_context(mock.patch.object(holder, name, stand_in))
        yield
