"""A trading task that pays the move of the market, whatever is held."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
from gymnasium import spaces

EXPECT = "ENV030"


class Trading(gym.Env):
    """Sell short, stay out or buy; paid is what the position earns over the coming day."""

    def __init__(self, days=60):
        self.days = days
        self.observation_space = spaces.Box(-5.0, 5.0, (5,), np.float32)
        self.action_space = spaces.Discrete(3)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.moves = np.clip(self.np_random.normal(0.05, 1.0, self.days + 4), -4, 4)
        self.day = 3
        self.position = 0
        return self._obs(), {}

    def _obs(self):
        window = self.moves[self.day - 3 : self.day]
        return np.array([*window, self.position, (self.day - 3) / self.days], np.float32)

    def _pay(self, move):
        return self.position * move

    def step(self, action):
        self.position = int(action) - 1
        reward = self._pay(self.moves[self.day])
        self.day += 1
        return self._obs(), float(reward), False, self.day >= self.days + 3, {}


class PaidByTheMarket(Trading):
    def _pay(self, move):
        return move


def make():
    return PaidByTheMarket()


def sound():
    return Trading()
