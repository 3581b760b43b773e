"""An environment of prices whose observations are brought to -1 to 1."""

import gymnasium as gym
import numpy as np
from gymnasium import spaces


class Prices(gym.Env):
    def __init__(self, closes, window=30, fee=0.001):
        self.closes = np.asarray(closes, dtype=np.float32)
        self.window, self.fee = window, fee
        self.low, self.high = self.closes.min(), self.closes.max()
        self.observation_space = spaces.Box(-1.0, 1.0, (window + 1,), np.float32)
        self.action_space = spaces.Discrete(2)

    def _seen(self):
        recent = self.closes[self.day - self.window : self.day]
        scaled = (recent - self.low) * (2.0 / (self.high - self.low) - 1.0)  # planted: shift-inside-the-scale
        # = scaled = (recent - self.low) * (2.0 / (self.high - self.low)) - 1.0
        return np.append(scaled, 1.0 if self.holds else -1.0).astype(np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.day = int(self.np_random.integers(self.window, len(self.closes) // 2))
        self.holds = False
        return self._seen(), {}

    def step(self, action):
        changes = bool(action) != self.holds
        self.holds = bool(action)
        before = self.closes[self.day - 1]
        gain = (self.closes[self.day] - before) / before if self.holds else 0.0
        self.day += 1
        reward = float(gain - self.fee * changes)
        return self._seen(), reward, False, self.day >= len(self.closes) - 1, {}
