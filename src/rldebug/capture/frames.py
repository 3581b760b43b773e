"""Frames: whether the pictures of a stack move, and whether a new episode begins with those of the last one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

_LONGEST = 8
_GUESSES = 16  # steps in which it is found out how many parts a vector has
_ALL = 256  # observations that are looked at one and all; then every eighth


class Frames:
    """Of one environment. Counts only; a stack is told by its next one, which is the same but for the newest frame."""

    def __init__(self) -> None:
        self.length = self.calls = 0
        self.looked = self.equal = self.moved = self.held = 0
        self.begun = self.begun_equal = self.carried = 0
        self.parts = 0  # of a vector that is a stack
        self._guesses = 0

    @property
    def open(self) -> bool:
        """Whether vectors are looked at: they are a stack, or nobody knows yet."""
        return bool(self.parts) or self._guesses < _GUESSES

    def look(self, before: NDArray[Any] | None, obs: NDArray[Any] | None, *, reset: bool) -> None:
        """Two observations of a lane that followed each other; reset: the second is the first of an episode."""
        self.calls += 1
        if obs is None or not 1 <= obs.ndim <= 3 or (self.calls > _ALL and self.calls % 8 and not reset):
            return
        if self.begun > _ALL and reset:
            return
        if obs.ndim == 1:
            self._guess(before, obs, reset)
        now = _stack(obs, self.parts)
        if now is None:
            return
        self.length = len(now)
        equal = all(np.array_equal(now[0], each) for each in now[1:])
        last = None if before is None or before.shape != obs.shape else _stack(before, self.parts)
        follows = last is not None and np.array_equal(now[:-1], last[1:])
        if reset:
            self.begun += 1
            self.begun_equal += equal
            self.carried += follows and not equal
            return
        self.looked += 1
        self.equal += equal
        self.moved += follows and not equal
        self.held += last is not None and not follows and _held(last, now)

    def _guess(self, before: NDArray[Any] | None, obs: NDArray[Any], reset: bool) -> None:
        """A vector may be several, one behind the other: in how many parts it moves on."""
        if self.parts or reset or self._guesses >= _GUESSES or before is None or before.shape != obs.shape:
            return
        self._guesses += 1
        for parts in range(2, _LONGEST + 1):
            size = obs.size // parts
            if obs.size % parts == 0 and size > 1 and np.array_equal(obs[:-size], before[size:]):
                if not np.array_equal(obs, before):
                    self.parts = parts
                return

    def describe(self) -> dict[str, int]:
        """equal: all frames of the stack are; moved: as a stack does; held: one frame at an end is another, the rest
        stayed where it was; begun, carried: of first observations."""
        if not self.length:
            return {}
        names = ("length", "looked", "equal", "moved", "held", "begun", "begun_equal", "carried")
        return {name: int(getattr(self, name)) for name in names}


def _held(last: NDArray[Any], now: NDArray[Any]) -> bool:
    changed = [not np.array_equal(one, two) for one, two in zip(last, now, strict=True)]
    return sum(changed) == 1 and (changed[0] or changed[-1])


def _stack(obs: NDArray[Any], parts: int = 0) -> NDArray[Any] | None:
    """Frames along the first axis; they are counted by the shorter of the two outer ones."""
    if obs.ndim == 1:
        return obs.reshape(parts, -1) if parts and obs.size % parts == 0 else None
    if obs.ndim == 2:
        return obs if 2 <= len(obs) <= _LONGEST else None
    stack = np.moveaxis(obs, -1, 0) if obs.shape[-1] <= obs.shape[0] else obs
    return stack if 2 <= len(stack) <= _LONGEST else None
