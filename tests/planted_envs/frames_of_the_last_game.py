"""A pixel game behind a stack of frames that is not emptied at a reset."""

from __future__ import annotations

from collections import deque

import gymnasium as gym
import numpy as np
from gymnasium import spaces

EXPECT = "ENV019"


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


class Stack(gym.ObservationWrapper):
    def __init__(self, env, k=3):
        super().__init__(env)
        self.frames = deque([np.zeros(env.observation_space.shape, np.uint8)] * k, maxlen=k)
        self.observation_space = spaces.Box(0, 255, (k, *env.observation_space.shape), np.uint8)

    def observation(self, obs):
        self.frames.append(obs)
        return np.stack(self.frames)


class Emptied(Stack):
    def reset(self, *, seed=None, options=None):
        self.frames.extend([np.zeros(self.observation_space.shape[1:], np.uint8)] * 3)
        return super().reset(seed=seed)


def make():
    return Stack(Catch())


def sound():
    return Emptied(Catch())
