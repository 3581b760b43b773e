"""A pixel game that is divided by 255 in the wrapper, and by 255 again."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
from gymnasium import spaces

EXPECT = "PRE005"


class Catch(gym.Env):
    """Be under the ball when it is down."""

    def __init__(self):
        self.observation_space = spaces.Box(0, 255, (40, 40, 3), np.uint8)
        self.action_space = spaces.Discrete(3)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.ball = [int(self.np_random.integers(0, 6)), int(self.np_random.integers(0, 20))]
        self.plate = int(self.np_random.integers(0, 20))
        return self._obs(), {}

    def _obs(self):
        image = np.zeros((20, 20, 3), np.uint8)
        image[self.ball[0], self.ball[1]] = (250, 200, 50)
        image[19, self.plate] = (40, 90, 255)
        return image.repeat(2, 0).repeat(2, 1)

    def step(self, action):
        self.plate = int(np.clip(self.plate + int(action) - 1, 0, 19))
        self.ball[0] += 1
        self.ball[1] = int(np.clip(self.ball[1] + self.np_random.integers(-1, 2), 0, 19))
        down = self.ball[0] == 19
        reward = 3.0 if down and abs(self.ball[1] - self.plate) < 3 else -0.02 * abs(self.ball[1] - self.plate)
        return self._obs(), reward, down, False, {}


class Unit(gym.ObservationWrapper):
    def __init__(self, env):
        super().__init__(env)
        self.observation_space = spaces.Box(0.0, 1.0, env.observation_space.shape, np.float32)

    def observation(self, obs):
        return obs.astype(np.float32) / 255


def make():
    return Unit(Unit(Catch()))


def sound():
    return Unit(Catch())
