"""A desk whose returns are recorded outside of the wrapper that clips its rewards."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
from gymnasium import spaces

EXPECT = "ENV027"


class Desk(gym.Env):
    """Buy, sell or hold; moves tend to be taken back."""

    def __init__(self):
        self.observation_space = spaces.Box(-10.0, 10.0, (5,), np.float32)
        self.action_space = spaces.Discrete(3)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.moves = list(self.np_random.normal(0, 1, 4))
        self.wealth = 20.0
        self.held = 0
        self.steps = 0
        return self._obs(), {}

    def _obs(self):
        return np.clip(np.array([*self.moves[-4:], self.held], np.float32), -10, 10)

    def step(self, action):
        self.held = int(action) - 1
        move = float(-0.6 * self.moves[-1] + self.np_random.normal(0, 1))
        self.moves.append(move)
        gain = self.held * move
        self.wealth += gain
        self.steps += 1
        return self._obs(), gain, self.wealth < 5, self.steps >= 120, {}


class Signs(gym.RewardWrapper):
    def reward(self, reward):
        return float(np.sign(reward))


def make():
    return gym.wrappers.RecordEpisodeStatistics(Signs(Desk()))


def sound():
    return Signs(gym.wrappers.RecordEpisodeStatistics(Desk()))
