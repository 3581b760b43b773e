"""A runner that is registered as solved at a return that standing at full throttle reaches."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
from gymnasium import spaces

EXPECT = "EVA002"


class Runner(gym.Env):
    """Keep the engine near its best temperature: more throttle is faster, and hotter."""

    def __init__(self):
        self.observation_space = spaces.Box(-5.0, 5.0, (2,), np.float32)
        self.action_space = spaces.Discrete(3)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.heat = self.np_random.uniform(-0.5, 0.5)
        self.speed = 0.0
        return self._obs(), {}

    def _obs(self):
        return np.array([self.heat, self.speed], np.float32)

    def step(self, action):
        throttle = int(action) / 2
        self.heat = float(np.clip(self.heat + 0.1 * (throttle - 0.4) + self.np_random.normal(0, 0.02), -3, 3))
        self.speed = 0.8 * self.speed + 0.2 * throttle * (0.3 if self.heat > 1 else 1.0)
        return self._obs(), float(self.speed), bool(self.heat > 2.9), False, {}


gym.register("EasyRunner-v0", Runner, max_episode_steps=100, reward_threshold=20.0)
gym.register("HardRunner-v0", Runner, max_episode_steps=100, reward_threshold=60.0)


def make():
    return gym.make("EasyRunner-v0", disable_env_checker=True)


def sound():
    return gym.make("HardRunner-v0", disable_env_checker=True)
