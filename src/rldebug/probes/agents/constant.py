"""The agent that always does the same: where it is as good as any other, there is nothing to learn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gymnasium as gym
import numpy as np

from rldebug.probes.agents.random import Random, allowed


class Constant:
    """Always `action`. Where a mask forbids it, one that is allowed is drawn."""

    kind = "constant"

    def __init__(self, action: Any, name: str = "", otherwise: Random | None = None) -> None:
        self.name = f"always {name or in_words(action)}"
        self.action = action
        self.otherwise = otherwise

    def act(self, obs: Any, info: Mapping[str, Any], t: int) -> Any:
        if self.otherwise is not None and not allowed(self.action, info):
            return self.otherwise.act(obs, info, t)
        return self.action.copy() if isinstance(self.action, np.ndarray) else self.action


def constants(space: gym.Space[Any], most: int = 8, seed: int = 0) -> list[Constant]:
    """One agent for each of at most `most` actions of the space."""
    otherwise = Random(space, seed)
    return [Constant(action, name, otherwise) for name, action in some_actions(space, most, seed)]


def some_actions(space: gym.Space[Any], most: int = 8, seed: int = 0) -> list[tuple[str, Any]]:
    """Name and value: every discrete action; of a Box the zero, the centre and corners; of others, draws."""
    if isinstance(space, gym.spaces.Discrete):
        chosen = range(int(space.n)) if space.n <= most else _spread(int(space.n), most)
        return [(str(space.start + each), space.dtype.type(space.start + each)) for each in chosen]
    if isinstance(space, gym.spaces.Box):
        return _of_box(space)[:most]
    if isinstance(space, gym.spaces.MultiDiscrete | gym.spaces.MultiBinary):
        return _of_several(space, most)
    draws = Random(space, seed)
    return [(f"draw {number}", draws.act(None, {}, 0)) for number in (1, 2)]


def bounds(space: gym.spaces.Box) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Low and high; ±1 stands for a bound that is infinite."""
    low = np.where(space.bounded_below, space.low, np.where(space.bounded_above, space.high - 2, -1))
    high = np.where(space.bounded_above, space.high, np.where(space.bounded_below, space.low + 2, 1))
    return low.astype(space.dtype), high.astype(space.dtype)


def in_words(action: Any) -> str:
    values = np.ravel(action)
    if np.ndim(action) == 0:
        return f"{values[0]:g}" if values.dtype.kind in "iuf" else str(values[0])
    return f"({', '.join(f'{each:g}' for each in values[:4])}{', …' if len(values) > 4 else ''})"


def _of_box(space: gym.spaces.Box) -> list[tuple[str, Any]]:
    low, high = bounds(space)
    centre = (low / 2 + high / 2).astype(space.dtype)  # halves first: the sum may overflow
    zero = np.zeros(space.shape, space.dtype)
    found = [("zero", zero)] if bool(np.all((low <= zero) & (zero <= high))) else []
    if not found or not np.array_equal(centre, zero):
        found.append(("centre", centre))
    found += [("low", low), ("high", high)]
    if 2 <= low.size <= 3:  # the other corners, as long as they are few
        for corner in range(1, 2**low.size - 1):
            up = np.array([corner >> place & 1 for place in range(low.size)], bool).reshape(space.shape)
            found.append((in_words(np.where(up, high, low)), np.where(up, high, low).astype(space.dtype)))
    return found


def _of_several(space: gym.spaces.MultiDiscrete | gym.spaces.MultiBinary, most: int) -> list[tuple[str, Any]]:
    """All combinations where they are few, else the first and the last."""
    counts = space.nvec if isinstance(space, gym.spaces.MultiDiscrete) else np.full(space.shape, 2)
    start = space.start if isinstance(space, gym.spaces.MultiDiscrete) else 0
    total = float(np.prod(counts, dtype=float))
    chosen = list(np.ndindex(*counts.ravel())) if total <= most else [np.zeros(counts.size), counts.ravel() - 1]
    actions = [(np.reshape(each, counts.shape) + start).astype(space.dtype) for each in chosen]
    return [(in_words(each), each) for each in actions]


def _spread(count: int, most: int) -> list[int]:
    """`most` of `count`, evenly, with the first and the last."""
    return sorted({round(each) for each in np.linspace(0, count - 1, most)})
