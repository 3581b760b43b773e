"""A courier who can go on collecting tips after the last delivery."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
from gymnasium import spaces

EXPECT = "ENV020"


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


class Tips(Courier):
    delivered = False

    def reset(self, *, seed=None, options=None):
        self.delivered = False
        return super().reset(seed=seed)

    def step(self, action):
        obs, reward, there, late, info = super().step(action)
        tip = 0.5 if self.delivered else 0.0
        self.delivered = self.delivered or there
        return obs, reward + tip, there, late, info


class Home(Courier):
    over = False

    def reset(self, *, seed=None, options=None):
        self.over = False
        return super().reset(seed=seed)

    def step(self, action):
        if self.over:
            raise RuntimeError("delivered: call reset()")
        obs, reward, self.over, late, info = super().step(action)
        return obs, reward, self.over, late, info


def make():
    return Tips()


def sound():
    return Home()
