"""A puck that is drawn pixel by pixel at every step, though nobody looks."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
from gymnasium import spaces

EXPECT = "PRF005"
WALL_CLOCK = True  # shows only on the clock, which a busy machine bends


class Puck(gym.Env):
    """Push a puck into the hole in the middle of the table."""

    def __init__(self):
        self.observation_space = spaces.Box(-3.0, 3.0, (2,), np.float32)
        self.action_space = spaces.Discrete(4)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.place = self.np_random.uniform(-1, 1, 2)
        return self._obs(), {}

    def _obs(self):
        return self.place.astype(np.float32)

    def _draw(self):
        return None

    def step(self, action):
        push = ((0.2, 0), (-0.2, 0), (0, 0.2), (0, -0.2))[int(action)]
        self.place = np.clip(self.place + push + self.np_random.normal(0, 0.02, 2), -2, 2)
        self._draw()
        far = float(np.linalg.norm(self.place))
        return self._obs(), -far, far < 0.15, False, {}


class Drawn(Puck):
    def _draw(self):
        size = 320
        self.picture = [
            [abs(x / size - self.place[0]) + abs(y / size - self.place[1]) < 0.1 for x in range(size)]
            for y in range(size)
        ]


def make():
    return gym.wrappers.TimeLimit(Drawn(), 40)


def sound():
    return gym.wrappers.TimeLimit(Puck(), 40)
