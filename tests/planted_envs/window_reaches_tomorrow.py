"""A trading task whose window of past moves ends one day too late."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
from gymnasium import spaces

EXPECT = "ENV034"


class Futures(gym.Env):
    """Short or long for one day; seen are the last four moves and the position."""

    ahead = 0

    def __init__(self, days=80):
        self.days = days
        self.observation_space = spaces.Box(-6.0, 6.0, (6,), np.float64)
        self.action_space = spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        noise = self.np_random.normal(0, 1, self.days + 8)
        self.moves = np.clip(0.6 * noise + 0.4 * np.roll(noise, 1), -5, 5)
        self.today = 4
        self.position = 0
        return self._obs(), {}

    def _obs(self):
        until = self.today + self.ahead
        return np.array([*self.moves[until - 4 : until], self.position, self.today / self.days])

    def step(self, action):
        self.position = 2 * int(action) - 1
        reward = self.position * self.moves[self.today]
        self.today += 1
        return self._obs(), float(reward), False, self.today >= self.days + 4, {}


class Prophet(Futures):
    ahead = 1


def make():
    return Prophet()


def sound():
    return Futures()
