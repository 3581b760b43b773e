"""A courier drawn as floats from 0 to 1."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
from gymnasium import spaces

EXPECT = "ENV025"


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


class Drawn(Courier):
    metadata = {"render_modes": ["rgb_array"], "render_fps": 4}  # noqa: RUF012

    def __init__(self, render_mode=None):
        super().__init__()
        self.render_mode = render_mode

    def render(self):
        picture = np.zeros((self.size, self.size, 3))
        picture[tuple(self.at)] = 1.0
        return picture


class Bytes(Drawn):
    def render(self):
        return (255 * super().render()).astype(np.uint8)


def make(**arguments):
    return Drawn(**arguments)


def sound(**arguments):
    return Bytes(**arguments)
