"""A pixel game whose frames are stacked before they are skipped."""

from __future__ import annotations

from collections import deque

import gymnasium as gym
import numpy as np
from gymnasium import spaces

EXPECT = "PRE002"


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
        self.frames = deque(maxlen=k)
        shape = env.observation_space.shape
        self.observation_space = spaces.Box(0, 255, (*shape[:2], k * shape[2]), np.uint8)

    def reset(self, *, seed=None, options=None):
        self.frames.clear()
        return super().reset(seed=seed)

    def observation(self, obs):
        self.frames.extend([obs] * (1 if self.frames else self.frames.maxlen))
        return np.concatenate(self.frames, axis=2)


class Skip(gym.Wrapper):
    def step(self, action):
        total = 0.0
        for _ in range(2):
            obs, reward, terminated, truncated, info = self.env.step(action)
            total += reward
            if terminated or truncated:
                break
        return obs, total, terminated, truncated, info


def make():
    return Skip(Stack(Catch()))


def sound():
    return Stack(Skip(Catch()))
