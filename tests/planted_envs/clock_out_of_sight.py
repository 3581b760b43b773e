"""A pump that runs for a fixed shift, and cannot see how much of it is left."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
from gymnasium import spaces

EXPECT = "ENV039"


class Pump(gym.Env):
    """Keep the level of a tank; inflow varies. The shift is 50 minutes long."""

    def __init__(self):
        self.observation_space = spaces.Box(-2.0, 2.0, (3,), np.float32)
        self.action_space = spaces.Discrete(3)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.level, self.inflow = self.np_random.uniform(-1, 1, 2)
        self.minute = 0
        return self._obs(), {}

    def _clock(self):
        return self.minute / 50

    def _obs(self):
        return np.array([self.level, self.inflow, self._clock()], np.float32)

    def step(self, action):
        assert self.action_space.contains(action), action
        self.inflow = float(np.clip(0.8 * self.inflow + self.np_random.normal(0, 0.3), -1, 1))
        self.level = float(np.clip(self.level + 0.2 * self.inflow + 0.2 * (int(action) - 1), -1, 1))
        self.minute += 1
        return self._obs(), -abs(self.level), False, self.minute >= 50, {}


class Clockless(Pump):
    def _clock(self):
        return self.level - self.inflow


def make():
    return Clockless()


def sound():
    return Pump()
