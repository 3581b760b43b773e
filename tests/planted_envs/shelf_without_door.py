"""A courier who falls off the map at its eastern edge."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
from gymnasium import spaces

EXPECT = "ENV010"


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


class Unfenced(Courier):
    def step(self, action):
        ground = np.zeros((self.size, self.size))
        beyond = self.at + MOVES[action]
        ground[beyond[0], beyond[1]] = 1.0  # no clip before the look-up
        return super().step(action)


def make():
    return Unfenced()


def sound():
    return Courier()
