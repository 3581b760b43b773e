"""A balancing task that reports `alive` where `terminated` is expected."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
from gymnasium import spaces

EXPECT = "ENV037"


class Broom(gym.Env):
    """Balance a broom: push against its fall, harder or softer."""

    def __init__(self):
        self.observation_space = spaces.Box(-10.0, 10.0, (2,), np.float32)
        self.action_space = spaces.Box(-1.0, 1.0, (1,), np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.angle, self.speed = self.np_random.uniform(-0.1, 0.1, 2)
        self.steps = 0
        return self._obs(), {}

    def _obs(self):
        return np.array([self.angle, self.speed], np.float32)

    def _over(self, upright):
        return not upright

    def step(self, action):
        push = float(np.clip(action[0], -1, 1))
        self.speed += 0.05 * (9.8 * np.sin(self.angle) + 3 * push)
        self.angle += 0.05 * self.speed
        self.steps += 1
        upright = bool(abs(self.angle) < 0.5)
        return self._obs(), 1.0 - 0.1 * push**2, self._over(upright), self.steps >= 300, {}


class Inverted(Broom):
    def _over(self, upright):
        return upright


def make():
    return Inverted()


def sound():
    return Broom()
