"""A lander's observation with a copied line: the speed stands where the spin should."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
from gymnasium import spaces

EXPECT = "ENV040"


class Capsule(gym.Env):
    """Come down upright and slowly: fall, thrust, turn left or right."""

    def __init__(self):
        self.observation_space = spaces.Box(-20.0, 20.0, (4,), np.float32)
        self.action_space = spaces.Discrete(4)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.height = self.np_random.uniform(4.0, 6.0)
        self.angle = self.np_random.uniform(-0.3, 0.3)
        self.speed = self.spin = 0.0
        return self._obs(), {}

    def _obs(self):
        return np.array([self.height, self.speed, self.angle, self.spin], np.float32)

    def step(self, action):
        thrust = 0.12 if action == 1 else 0.0
        self.spin += {2: -0.02, 3: 0.02}.get(int(action), 0.0) + self.np_random.normal(0, 0.005)
        self.angle = float(np.clip(self.angle + self.spin, -3, 3))
        self.speed += thrust * np.cos(self.angle) - 0.05
        self.height = min(self.height + self.speed, 15.0)
        landed = bool(self.height <= 0)
        soft = abs(self.speed) < 0.5 and abs(self.angle) < 0.3
        reward = (1.0 if soft else -1.0) if landed else -0.01 * abs(self.angle)
        return self._obs(), float(reward), landed, False, {}


class Copied(Capsule):
    def _obs(self):
        return np.array([self.height, self.speed, self.angle, self.speed], np.float32)


def make():
    return gym.wrappers.TimeLimit(Copied(), 300)


def sound():
    return gym.wrappers.TimeLimit(Capsule(), 300)
