"""A grid world whose step() hands out the observation that reset() made."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
from gymnasium import spaces

EXPECT = "ENV032"
MOVES = ((0, 1), (1, 0), (0, -1), (-1, 0))


class Warehouse(gym.Env):
    """Walk to the shelf in the far corner of a small grid."""

    def __init__(self, size=5, patience=60):
        self.size = size
        self.patience = patience
        self.observation_space = spaces.Discrete(size * size)
        self.action_space = spaces.Discrete(4)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.place = self.np_random.integers(0, self.size - 1, 2)
        self.steps = 0
        self.seen = self._obs()
        return self.seen, {}

    def _obs(self):
        return int(self.place[0] * self.size + self.place[1])

    def _look(self):
        return self._obs()

    def step(self, action):
        self.place = np.clip(self.place + MOVES[int(action)], 0, self.size - 1)
        self.steps += 1
        there = bool(np.all(self.place == self.size - 1))
        return self._look(), 1.0 if there else -0.01, there, not there and self.steps >= self.patience, {}


class OldPicture(Warehouse):
    def _look(self):
        return self.seen


def make():
    return OldPicture()


def sound():
    return Warehouse()
