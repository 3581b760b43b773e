"""A trolley on a rail that is a global of the module: another one moves it too."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
from gymnasium import spaces

EXPECT = "ENV018"


class Trolley(gym.Env):
    """Bring the trolley to the mark, and keep it on the rail."""

    def __init__(self):
        bound = np.array([7.0, 5.0, 2.0], np.float32)
        self.observation_space = spaces.Box(-bound, bound)
        self.action_space = spaces.Box(-1.0, 1.0, (1,), np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.place, self.mark = self.np_random.uniform(-2, 2, 2)
        self.speed = 0.0
        self.steps = 0
        return self._obs(), {}

    def _obs(self):
        return np.array([self.place, self.speed, self.mark], np.float32)

    def _force(self, action):
        return float(np.clip(action[0], -1, 1))

    def _reward(self, off):
        return -0.1 * abs(self.place - self.mark) - 5.0 * off

    def step(self, action):
        self.speed = 0.9 * self.speed + 0.3 * self._force(action) + self.np_random.normal(0, 0.05)
        self.place += 0.3 * self.speed
        self.steps += 1
        off = bool(abs(self.place) > 5)
        return self._obs(), float(self._reward(off)), off, self.steps >= 80, {}


RAIL = {"tilt": 0.0}


class Tilting(Trolley):
    rail = RAIL

    def reset(self, *, seed=None, options=None):
        self.rail["tilt"] = 0.0
        return super().reset(seed=seed)

    def _force(self, action):
        self.rail["tilt"] = 0.8 * self.rail["tilt"] + 0.1 * super()._force(action)
        return super()._force(action) + self.rail["tilt"]


class Alone(Tilting):
    def __init__(self):
        super().__init__()
        self.rail = {"tilt": 0.0}


def make():
    return Tilting()


def sound():
    return Alone()
