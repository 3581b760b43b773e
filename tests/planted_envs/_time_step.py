"""What dm_env's environments return, and say of themselves, without dm_env."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

FIRST, MID, LAST = 0, 1, 2


class TimeStep(NamedTuple):
    step_type: int
    reward: Any
    discount: Any
    observation: Any


class Bounded(NamedTuple):
    shape: tuple[int, ...]
    dtype: Any
    minimum: float
    maximum: float


class Choices(NamedTuple):
    num_values: int
    shape: tuple[int, ...] = ()
    dtype: Any = np.int32


class Balance:
    """Keep a ball near the middle of a beam for sixty steps."""

    limit = 60

    def __init__(self, seed=None):
        self.rng = np.random.default_rng(seed)
        self.over = True

    def observation_spec(self):
        return Bounded((1,), np.float32, -4.0, 4.0)

    def action_spec(self):
        return Choices(3)

    def reset(self):
        self.t, self.over = 0, False
        self.x = float(self.rng.uniform(-1, 1))
        return TimeStep(FIRST, None, None, self.seen())

    def seen(self):
        return np.array([self.x], np.float32)

    def step(self, action):
        if self.over:
            return self.reset()
        self.t += 1
        self.x += 0.3 * (int(np.clip(action, 0, 2)) - 1) + 0.1 * float(self.rng.normal())
        fallen, late = abs(self.x) > 2, self.t >= self.limit
        self.over = fallen or late
        return TimeStep(
            LAST if self.over else MID, -1.0 if fallen else 1 - abs(self.x), self.discount(fallen), self.seen()
        )

    def discount(self, fallen):
        """0 where nothing comes after: a time limit is no such place."""
        return 0.0 if fallen else 1.0

    def close(self):
        pass
