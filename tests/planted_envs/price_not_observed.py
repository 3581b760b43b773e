"""A battery that is paid by a price it is never shown."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
from gymnasium import spaces

EXPECT = "ENV035"


class Battery(gym.Env):
    """Charge, wait or discharge; paid is power times the price of electricity, which swings around zero."""

    def __init__(self, hours=50):
        self.hours = hours
        self.observation_space = spaces.Box(-8.0, 8.0, (4,), np.float32)
        self.action_space = spaces.Discrete(3)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.charge = 0.5
        self.hour = 0
        self.price = self.np_random.normal()
        self.sun = self.np_random.normal()
        return self._obs(), {}

    def _obs(self):
        return np.array([self.charge, self.sun, self._shown(), self.hour / self.hours], np.float32)

    def _shown(self):
        return np.clip(self.price, -5, 5)

    def step(self, action):
        assert self.action_space.contains(action), action
        power = int(action) - 1
        self.charge = float(np.clip(self.charge - 0.1 * power, 0, 1))
        reward = (power + 0.1 * self.charge) * self.price
        self.price = self.np_random.normal()
        self.sun = float(np.clip(0.9 * self.sun + self.np_random.normal(0, 0.3), -5, 5))
        self.hour += 1
        return self._obs(), float(reward), False, self.hour >= self.hours, {}


class Unpriced(Battery):
    def _shown(self):
        return np.clip(self.np_random.normal(), -5, 5)


def make():
    return Unpriced()


def sound():
    return Battery()
