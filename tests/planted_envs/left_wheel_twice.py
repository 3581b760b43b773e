"""A rover with two wheels that listens to the same element of the action for both."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
from gymnasium import spaces

EXPECT = "ENV043"


class Rover(gym.Env):
    """Drive to the beacon at the origin with two wheels."""

    def __init__(self):
        self.observation_space = spaces.Box(-30.0, 30.0, (4,), np.float32)
        self.action_space = spaces.Box(-1.0, 1.0, (2,), np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.place = self.np_random.uniform(-3, 3, 2)
        self.heading = self.np_random.uniform(-np.pi, np.pi)
        return self._obs(), {}

    def _obs(self):
        return np.array([*self.place, np.cos(self.heading), np.sin(self.heading)], np.float32)

    def _wheels(self, action):
        return action[0], action[1]

    def step(self, action):
        left, right = self._wheels(action)
        self.heading += 0.4 * (right - left) + self.np_random.normal(0, 0.02)
        ahead = np.array([np.cos(self.heading), np.sin(self.heading)])
        self.place = np.clip(self.place + 0.1 * (left + right) * ahead, -20, 20)
        far = float(np.linalg.norm(self.place))
        return self._obs(), -0.1 * far, far < 0.2, False, {}


class OneWheel(Rover):
    def _wheels(self, action):
        return action[0], action[0]


def make():
    return gym.wrappers.TimeLimit(OneWheel(), 150)


def sound():
    return gym.wrappers.TimeLimit(Rover(), 150)
