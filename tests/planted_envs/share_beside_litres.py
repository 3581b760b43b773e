"""A dosing task that sees litres beside a concentration in parts of one."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
from gymnasium import spaces

EXPECT = "NRM006"


class Dosing(gym.Env):
    """Hold the concentration in a tank while water comes and goes."""

    unit = 1e5

    def __init__(self):
        self.observation_space = spaces.Box(-np.inf, np.inf, (2,), np.float32)
        self.action_space = spaces.Discrete(3)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.water = self.np_random.uniform(50, 300)
        self.share = self.np_random.uniform(0, 2e-3)
        return self._obs(), {}

    def _obs(self):
        return np.array([self.water / 100 if self.unit > 1 else self.water, self.share * self.unit / 100], np.float32)

    def step(self, action):
        assert self.action_space.contains(action), action
        self.water = float(np.clip(self.water + self.np_random.normal(0, 20), 20, 400))
        self.share = max(0.0, 0.95 * self.share + 5e-3 * int(action) / self.water)
        off = abs(self.share - 1e-3) * 1e3
        return self._obs(), -off, bool(off > 3), False, {}


class PartsOfOne(Dosing):
    unit = 1.0


def make():
    return gym.wrappers.TimeLimit(PartsOfOne(), 80)


def sound():
    return gym.wrappers.TimeLimit(Dosing(), 80)
