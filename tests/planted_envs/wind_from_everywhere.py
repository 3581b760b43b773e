"""A courier who slips, by the global generator of NumPy."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
from gymnasium import spaces

EXPECT = "SEE003"


MOVES = ((1, 0), (-1, 0), (0, 1), (0, -1))


class Courier(gym.Env):
    """Walk to the door of the customer."""

    def __init__(self, size=6):
        self.size = size
        self.observation_space = spaces.Box(0.0, size - 1.0, (4,), np.float32)
        self.action_space = spaces.Discrete(4)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.at, self.door = self.np_random.integers(0, self.size, (2, 2))
        self.steps = 0
        return self._obs(), {}

    def _obs(self):
        return np.array([*self.at, *self.door], np.float32)

    def step(self, action):
        self.at = np.clip(self.at + MOVES[action], 0, self.size - 1)
        self.steps += 1
        there = bool((self.at == self.door).all())
        reward = 1.0 if there else -0.05 * float(np.abs(self.at - self.door).sum())
        return self._obs(), reward, there, self.steps >= 100, {}


class Slippery(Courier):
    def step(self, action):
        if np.random.random() < 0.2:
            action = np.random.randint(4)
        return super().step(action)


class Seeded(Courier):
    def step(self, action):
        if self.np_random.random() < 0.2:
            action = self.np_random.integers(4)
        return super().step(action)


def make():
    return Slippery()


def sound():
    return Seeded()
