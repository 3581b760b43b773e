"""A shop that must order, and never sees what it has in stock."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
from gymnasium import spaces

EXPECT = "ENV033"


class Shop(gym.Env):
    """Order 0 to 4 crates a day; unsold ones cost, missing ones cost more."""

    shown = True

    def __init__(self, days=40):
        self.days = days
        self.observation_space = spaces.Box(-1.0, 6.0, (3,), np.float32)
        self.action_space = spaces.Discrete(5)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.day = 0
        self.stock = 3
        self.demand = int(self.np_random.integers(0, 5))
        return self._obs(), {}

    def _obs(self):
        stock = self.stock / 5 if self.shown else 0.0
        return np.array([self.demand, self.day / self.days, stock + 0.1 * self.weather()], np.float32)

    def weather(self):
        return float(np.sin(self.day))

    def step(self, action):
        assert self.action_space.contains(action), action
        self.stock = min(self.stock + int(action), 20)
        self.demand = int(self.np_random.integers(0, 5))
        sold = min(self.stock, self.demand)
        reward = sold - 0.5 * (self.demand - sold) - 0.1 * (self.stock - sold)
        self.stock -= sold
        self.day += 1
        return self._obs(), float(reward), False, self.day >= self.days, {}


class Blind(Shop):
    shown = False


def make():
    return Blind()


def sound():
    return Shop()
