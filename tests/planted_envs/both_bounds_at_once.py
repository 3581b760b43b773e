"""A cart that is off its rail only where it is beyond both ends at once."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
from gymnasium import spaces

EXPECT = "ENV036"


class Cart(gym.Env):
    """Push a cart left or right; wind shakes it, and it must not run off the rail."""

    def __init__(self):
        self.observation_space = spaces.Box(-np.inf, np.inf, (2,), np.float32)
        self.action_space = spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.x = self.np_random.uniform(-0.5, 0.5)
        self.speed = 0.0
        return self._obs(), {}

    def _obs(self):
        return np.array([self.x, self.speed], np.float32)

    def _off(self):
        return self.x > 2.4 or self.x < -2.4

    def step(self, action):
        push = 0.1 if action == 1 else -0.1
        self.speed = 0.95 * self.speed + push + self.np_random.normal(0, 0.02)
        self.x += 0.1 * self.speed
        return self._obs(), float(np.cos(self.x)), bool(self._off()), False, {}


class Endless(Cart):
    def _off(self):
        return self.x > 2.4 and self.x < -2.4


def make():
    return Endless()


def sound():
    return Cart()
