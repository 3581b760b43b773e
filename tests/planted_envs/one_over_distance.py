"""A homing task that pays one over the distance."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
from gymnasium import spaces

EXPECT = "NRM008"


class Homing(gym.Env):
    """Stay with a mark that drifts along a line."""

    def __init__(self):
        self.observation_space = spaces.Box(-10.0, 10.0, (3,), np.float32)
        self.action_space = spaces.Box(-1.0, 1.0, (1,), np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.gap, self.drift = self.np_random.uniform(-1, 1, 2)
        self.steps = 0
        return self._obs(), {}

    def _obs(self):
        return np.array([self.gap, self.drift, self.steps / 100], np.float32)

    def _pay(self):
        return 1 - abs(self.gap) / 4

    def step(self, action):
        self.drift = 0.9 * self.drift + self.np_random.normal(0, 0.1)
        self.gap = float(np.clip(self.gap + 0.2 * self.drift - 0.2 * action[0], -4, 4))
        self.steps += 1
        return self._obs(), float(self._pay()), False, self.steps >= 100, {}


class Inverse(Homing):
    def _pay(self):
        return 1 / (self.gap**2 + 1e-12)


def make():
    return Inverse()


def sound():
    return Homing()
