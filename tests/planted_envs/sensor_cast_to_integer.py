"""A drone whose climb rate is cast to an integer on its way into the observation."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
from gymnasium import spaces

EXPECT = "ENV041"


class Drone(gym.Env):
    """Hover at a height, with gusts."""

    def __init__(self):
        self.observation_space = spaces.Box(-10.0, 10.0, (3,), np.float32)
        self.action_space = spaces.Box(-1.0, 1.0, (1,), np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.height = self.np_random.uniform(-0.5, 0.5)
        self.climb = self.gust = 0.0
        return self._obs(), {}

    def _rate(self):
        return self.climb

    def _obs(self):
        return np.array([self.height, self._rate(), self.gust], np.float32)

    def step(self, action):
        assert self.action_space.contains(action), action
        self.gust = 0.7 * self.gust + self.np_random.normal(0, 0.1)
        self.climb = float(np.clip(0.9 * self.climb + 0.05 * action[0] + 0.05 * self.gust, -0.9, 0.9))
        self.height += self.climb
        lost = bool(abs(self.height) > 3)
        return self._obs(), -10.0 if lost else 0.1 - abs(self.height) / 30, lost, False, {}


class Rounded(Drone):
    def _rate(self):
        return int(self.climb)


def make():
    return gym.wrappers.TimeLimit(Rounded(), 200)


def sound():
    return gym.wrappers.TimeLimit(Drone(), 200)
