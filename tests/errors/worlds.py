"""An environment whose observations and rewards can be chosen."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
from gymnasium import spaces


class Grid(gym.Env):
    """Four numbers, two actions; what it returns can be chosen."""

    def __init__(self, obs=None, reward=0.0):
        self.observation_space = spaces.Box(-1, 1, (4,), np.float32)
        self.action_space = spaces.Discrete(2)
        self.obs = np.zeros(4, np.float32) if obs is None else obs
        self.reward = reward
        self.goal_cell = 3

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return self.obs, {}

    def step(self, action):
        return self.obs, self.reward, False, False, {}
