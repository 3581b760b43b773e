"""A power plant that is paid in cents, for megawatts."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
from gymnasium import spaces

EXPECT = "NRM007"


class Plant(gym.Env):
    """Meet the demand with as little fuel as possible."""

    coin = 1.0

    def __init__(self):
        self.observation_space = spaces.Box(-5.0, 5.0, (3,), np.float32)
        self.action_space = spaces.Box(0.0, 1.0, (1,), np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.demand = self.np_random.uniform(0.2, 0.8)
        self.power = 0.5
        self.hour = 0
        return self._obs(), {}

    def _obs(self):
        return np.array([self.demand, self.power, self.hour / 24], np.float32)

    def step(self, action):
        self.power += 0.5 * (float(action[0]) - self.power)
        self.demand = float(np.clip(self.demand + self.np_random.normal(0, 0.1), 0, 1))
        self.hour += 1
        reward = min(self.power, self.demand) - 0.4 * self.power
        return self._obs(), float(reward * self.coin), False, self.hour >= 24, {}


class Cents(Plant):
    coin = 1e7


def make():
    return Cents()


def sound():
    return Plant()
