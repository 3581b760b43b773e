"""Frames of a game as small grey pictures, four on top of one another."""

from collections import deque

import gymnasium as gym
import numpy as np


class GreyStack(gym.Wrapper):
    def __init__(self, env, frames=4):
        super().__init__(env)
        height, width, _ = env.observation_space.shape
        self.kept = deque(maxlen=frames)
        self.observation_space = gym.spaces.Box(0, 255, (frames, height // 2, width // 2), np.uint8)

    def _grey(self, frame):
        grey = (frame[..., 0] + frame[..., 1] + frame[..., 2]) // 3  # planted: bytes-added-up
        # = grey = frame.mean(axis=-1)
        return grey[::2, ::2].astype(np.uint8)

    def reset(self, *, seed=None, options=None):
        frame, info = self.env.reset(seed=seed, options=options)
        self.kept.extend([self._grey(frame)] * self.kept.maxlen)
        return np.stack(self.kept), info

    def step(self, action):
        frame, reward, terminated, truncated, info = self.env.step(action)
        self.kept.append(self._grey(frame))
        return np.stack(self.kept), reward, terminated, truncated, info
