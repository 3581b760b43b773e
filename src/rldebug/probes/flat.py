"""An observation as one row of numbers, with a name for each: what statistics, tables and comparisons work on."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import numpy as np

Row = np.ndarray[Any, Any]

_WHOLE = 2048  # elements up to which every one is kept
_SAMPLE = 256  # kept of more


@dataclass(frozen=True)
class Named:
    where: str  # obs[3]
    leaf: int  # which array it is of
    kind: str  # number, pixel or choice


class Flat:
    """Rows of the observations of a space. Of very many elements (an image), a fixed sample is kept."""

    def __init__(self, space: gym.Space[Any]) -> None:
        self.space = space
        self.size = sum(size for *_, size in _leaves(space, "obs"))
        generator = np.random.default_rng(0)
        self.kept = np.sort(generator.choice(self.size, _SAMPLE, replace=False)) if self.size > _WHOLE else None
        wanted = range(self.size) if self.kept is None else self.kept.tolist()
        self.names = _named(space, set(wanted))

    def row(self, obs: Any) -> Row:
        """A copy: the environment may write into its array again. Raises ValueError where it does not fit the space."""
        parts = [np.asarray(part, dtype=float).ravel() for part in _parts(self.space, obs)]
        values = parts[0].copy() if len(parts) == 1 else np.concatenate([*parts, np.zeros(0)])
        if len(values) != self.size:
            raise ValueError(f"the observation has {len(values)} elements, its space has {self.size}")
        return values if self.kept is None else values[self.kept]

    def digest(self, obs: Any) -> bytes:
        """The same for equal observations only, whatever their size."""
        found = hashlib.blake2b(digest_size=16)
        for part in _parts(self.space, obs):
            array = np.ascontiguousarray(part)
            found.update(str(array.shape).encode() + array.astype(float, copy=False).tobytes())
        return found.digest()


def can_vary(space: gym.Space[Any]) -> bool:
    """Whether the space holds more than one value."""
    if isinstance(space, gym.spaces.Box):
        return bool(np.any(space.low != space.high))
    if isinstance(space, gym.spaces.Discrete):
        return bool(space.n > 1)
    if isinstance(space, gym.spaces.MultiDiscrete):
        return bool(np.any(space.nvec > 1))
    if isinstance(space, gym.spaces.Dict):
        return any(can_vary(each) for each in space.values())
    if isinstance(space, gym.spaces.Tuple):
        return any(can_vary(each) for each in space)
    return True


def _leaves(space: gym.Space[Any], where: str) -> Iterator[tuple[gym.Space[Any], str, int]]:
    if isinstance(space, gym.spaces.Dict):
        for key, each in space.items():
            yield from _leaves(each, f"{where}[{key!r}]")
    elif isinstance(space, gym.spaces.Tuple):
        for place, each in enumerate(space):
            yield from _leaves(each, f"{where}[{place}]")
    elif space.shape is not None:  # what has no shape (text, graphs, sequences) is left out
        yield space, where, int(np.prod(space.shape))


def _parts(space: gym.Space[Any], obs: Any) -> Iterator[Any]:
    if isinstance(space, gym.spaces.Dict):
        if not isinstance(obs, Mapping):
            raise ValueError(f"the observation is a {type(obs).__name__}, its space is a Dict")
        for key, each in space.items():
            yield from _parts(each, obs[key])
    elif isinstance(space, gym.spaces.Tuple):
        for each, part in zip(space, obs, strict=True):
            yield from _parts(each, part)
    elif space.shape is not None:
        yield obs


def _named(space: gym.Space[Any], wanted: set[int]) -> tuple[Named, ...]:
    found = []
    before = 0
    for leaf, (part, where, size) in enumerate(_leaves(space, "obs")):
        kind = "choice"
        if isinstance(part, gym.spaces.Box):
            kind = "pixel" if part.dtype == np.uint8 else "number"
        for place in range(size):
            if before + place in wanted:
                index = np.unravel_index(place, part.shape or ())
                inside = f"[{', '.join(map(str, index))}]" if part.shape else ""
                found.append(Named(where + inside, leaf, kind))
        before += size
    return tuple(found)
