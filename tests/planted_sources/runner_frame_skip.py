"""A game of running that is decided on every third frame."""

import gymnasium as gym


class EveryThird(gym.Wrapper):
    def __init__(self, env, frames=3):
        super().__init__(env)
        self.frames = frames

    def step(self, action):
        # + paid = 0.0
        for _ in range(self.frames):
            obs, reward, terminated, truncated, info = self.env.step(action)
            # + paid += reward
            if terminated or truncated:
                break
        return obs, reward, terminated, truncated, info  # planted: skipped-rewards-lost
        # = return obs, paid, terminated, truncated, info
