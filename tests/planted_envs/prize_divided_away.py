"""A maze whose prize is lost in an integer division."""

from __future__ import annotations

import gymnasium as gym
from gymnasium import spaces

EXPECT = "EXP005"
WALLS = {(1, 1), (1, 2), (3, 0), (3, 2)}


class Maze(gym.Env):
    """Find the way out of a small maze; the sooner, the better."""

    def __init__(self, size=4, patience=50):
        self.size = size
        self.patience = patience
        self.observation_space = spaces.MultiDiscrete([size, size])
        self.action_space = spaces.Discrete(4)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.place = (0, int(self.np_random.integers(0, 2)))
        self.steps = 0
        return self._obs(), {}

    def _obs(self):
        return self.observation_space.dtype.type(self.place)

    def _prize(self):
        return (self.patience - self.steps) / self.patience

    def step(self, action):
        row, column = self.place
        across, down = ((0, 1), (1, 0), (0, -1), (-1, 0))[int(action)]
        new = (min(max(row + across, 0), self.size - 1), min(max(column + down, 0), self.size - 1))
        self.place = self.place if new in WALLS else new
        self.steps += 1
        out = self.place == (self.size - 1, self.size - 1)
        return self._obs(), float(self._prize()) if out else 0.0, out, not out and self.steps >= self.patience, {}


class Divided(Maze):
    def _prize(self):
        return (self.patience - self.steps) // self.patience


def make():
    return Divided()


def sound():
    return Maze()
