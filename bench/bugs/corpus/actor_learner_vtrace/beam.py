import math

import gymnasium as gym
import numpy as np


class BeamBall(gym.Env):
    """Keep a ball on a see-saw. The beam is tilted left, level or right; off the end means lost.

    obs: position in [-1, 1], speed; reward: 1 in the middle, less toward the ends; 60 steps at most (not observed).
    """

    STEPS = 60

    def __init__(self):
        big = np.float32(np.finfo(np.float32).max)
        self.observation_space = gym.spaces.Box(np.array([-2.0, -big], np.float32), np.array([2.0, big], np.float32))
        self.action_space = gym.spaces.Discrete(3)
        self.x = self.v = 0.0
        self.n = 0

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.x = self.np_random.uniform(-0.5, 0.5)
        self.v = self.np_random.uniform(-0.3, 0.3)
        self.n = 0
        return np.array([self.x, self.v], np.float32), {}

    def step(self, action):
        self.n += 1
        tilt = 0.35 * (int(action) - 1)
        self.v += 0.1 * (2.0 * math.sin(tilt) + 0.8 * self.x) + self.np_random.normal(0.0, 0.03)
        self.x += 0.2 * self.v
        lost = abs(self.x) > 1.0
        reward = -1.0 if lost else 1.0 - abs(self.x)
        return np.array([self.x, self.v], np.float32), reward, lost, (not lost) and self.n >= self.STEPS, {}
