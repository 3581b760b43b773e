"""A positioning stage that reports where it is in micrometres."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
from gymnasium import spaces

EXPECT = "NRM005"


class Stage(gym.Env):
    """Move a stage to its mark, half a metre to either side."""

    unit = 1.0

    def __init__(self):
        self.observation_space = spaces.Box(-np.inf, np.inf, (3,), np.float64)
        self.action_space = spaces.Box(-1.0, 1.0, (1,), np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.here, self.mark = self.np_random.uniform(-0.5, 0.5, 2)
        self.speed = 0.0
        return self._obs(), {}

    def _obs(self):
        return np.array([self.here * self.unit, self.mark * self.unit, self.speed])

    def step(self, action):
        self.speed = 0.8 * self.speed + 0.1 * float(action[0]) + self.np_random.normal(0, 0.01)
        self.here = float(np.clip(self.here + 0.1 * self.speed, -1, 1))
        near = abs(self.here - self.mark) < 0.005
        return self._obs(), -abs(self.here - self.mark), bool(near), False, {}


class Micrometres(Stage):
    unit = 1e6


def make():
    return gym.wrappers.TimeLimit(Micrometres(), 100)


def sound():
    return gym.wrappers.TimeLimit(Stage(), 100)
