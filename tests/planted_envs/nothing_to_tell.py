"""A trolley whose info is None while there is nothing to tell."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
from gymnasium import spaces

EXPECT = "ENV011"


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


class Silent(Trolley):
    def step(self, action):
        obs, reward, off, late, info = super().step(action)
        return obs, reward, off, late, info or None


def make():
    return Silent()


def sound():
    return Trolley()
