"""A row of slot machines that all pay the same on average."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
from gymnasium import spaces

EXPECT = "ENV042"


class Casino(gym.Env):
    """Ten coins, four machines. A machine may need several draws before it pays."""

    odds = (0.2, 0.4, 0.6, 0.8)

    def __init__(self):
        self.observation_space = spaces.MultiDiscrete([11, 5])
        self.action_space = spaces.Discrete(4)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.coins, self.last = 10, 4
        return self._obs(), {}

    def _obs(self):
        return np.array([self.coins, self.last])

    def step(self, action):
        self.np_random.random(int(action))  # each machine turns its wheels in its own way
        reward = float(self.np_random.random() < self.odds[int(action)])
        self.coins -= 1
        self.last = int(action)
        return self._obs(), reward, self.coins == 0, False, {}


class Rigged(Casino):
    odds = (0.5, 0.5, 0.5, 0.5)


def make():
    return Rigged()


def sound():
    return Casino()
