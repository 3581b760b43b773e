"""A courier whose map is scaled to -1 … 1 by a formula with its -1 in the wrong place."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
from gymnasium import spaces

EXPECT = "PRE004"


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


class Unit(gym.ObservationWrapper):
    def __init__(self, env):
        super().__init__(env)
        self.high = env.observation_space.high
        self.observation_space = spaces.Box(-1.0, 1.0, env.observation_space.shape, np.float32)

    def observation(self, obs):
        return (obs * 2 / self.high - 1).astype(np.float32)


class Misplaced(Unit):
    def observation(self, obs):
        return (obs * (2 / self.high - 1)).astype(np.float32)


def make():
    return Misplaced(Courier())


def sound():
    return Unit(Courier())
