"""A tracking task whose step counter says `terminated`."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
from gymnasium import spaces

EXPECT = "ENV038"


class Tracker(gym.Env):
    """Follow a target that wanders; it never ends but by the clock."""

    def __init__(self, horizon=64):
        self.horizon = horizon
        self.observation_space = spaces.Box(-10.0, 10.0, (2,), np.float32)
        self.action_space = spaces.Box(-1.0, 1.0, (1,), np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.here, self.there = self.np_random.uniform(-2, 2, 2)
        self.count = 0
        return self._obs(), {}

    def _obs(self):
        return np.array([self.here, self.there], np.float32)

    def _flags(self):
        return False, self.count >= self.horizon

    def step(self, action):
        self.count += 1
        self.here = float(np.clip(self.here + 0.5 * action[0], -5, 5))
        self.there = float(np.clip(0.95 * self.there + self.np_random.normal(0, 0.3), -5, 5))
        return self._obs(), -abs(self.here - self.there), *self._flags(), {}


class Counted(Tracker):
    def _flags(self):
        return self.count >= self.horizon, False


def make():
    return Counted()


def sound():
    return Tracker()
