"""A walker that keeps to an action for some steps, and says what the steps in between looked like."""

import gymnasium as gym
import numpy as np


class Repeats(gym.Wrapper):
    def __init__(self, env, times=4):
        super().__init__(env)
        self.times = times

    def step(self, action):
        paid, seen = 0.0, []
        for _ in range(self.times):
            obs, reward, terminated, truncated, info = self.env.step(action)  # planted: skip-runs-past-the-end
            # = obs, reward, terminated, truncated, info = self.env.step(action)
            paid += reward
            seen.append(obs)
            # + if terminated or truncated:
            # +     break
        info["between"] = np.stack(seen)
        return obs, paid, terminated, truncated, info
