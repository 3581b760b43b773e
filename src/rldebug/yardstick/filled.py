"""A replay buffer that is full, made in a moment; and one transition for it."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from rldebug.parts.buffers import Replay
from rldebug.yardstick.shape import Shape

MOST_BYTES = 64_000_000
BLOCKS = 8

Kind = TypeVar("Kind", bound=Replay)


def spaces(shape: Shape) -> tuple[Any, Any]:
    from gymnasium.spaces import Box, Discrete

    low, high = (0, 255) if shape.dtype == "uint8" else (-np.inf, np.inf)
    return Box(low, high, (shape.width,), np.dtype(shape.dtype).type), Discrete(2)


def fields(shape: Shape, lanes: int) -> dict[str, Any]:
    """What one step of so many lanes brings."""
    observation = np.ones((lanes, shape.width), shape.dtype)
    flags = np.zeros(lanes, bool)
    return {
        "obs": observation,
        "action": np.zeros(lanes, np.int64),
        "reward": np.ones(lanes, np.float32),
        "next_obs": observation,
        "terminated": flags,
        "truncated": flags,
    }


def filled(kind: type[Kind], shape: Shape) -> Kind:
    """Of `capacity` transitions, or as many as fit into 64 MB. In blocks, as if there were very many lanes."""
    row = 2 * shape.width * np.dtype(shape.dtype).itemsize
    block = max(1, min(shape.capacity, MOST_BYTES // row) // BLOCKS)
    buffer = kind(BLOCKS * block, *spaces(shape), envs=block, seed=0)
    for _ in range(BLOCKS):
        buffer.add(**fields(shape, block))
    return buffer
