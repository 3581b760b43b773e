"""Stable-Baselines3: PPO on copies of an own environment, each with its seed."""

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import DummyVecEnv, VecMonitor


class Warehouse(gym.Env):
    def __init__(self, demand_seed):
        self.observation_space = spaces.Box(0.0, 100.0, (2,), np.float32)
        self.action_space = spaces.Discrete(6)
        self.demand = np.random.default_rng(demand_seed)
        self.stock, self.day = 50.0, 0

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.stock, self.day = 50.0, 0
        return self._seen(), {}

    def _seen(self):
        return np.array([self.stock, self.day], dtype=np.float32)

    def step(self, action):
        asked = float(self.demand.poisson(8))
        sold = min(asked, self.stock)
        self.stock = min(100.0, self.stock - sold + 5.0 * float(action))
        self.day += 1
        reward = 2.0 * sold - 0.1 * self.stock - 3.0 * float(action > 0)
        return self._seen(), reward, False, self.day >= 60, {}


def build(count, seed):
    makers = []
    for rank in range(count):
        makers.append(lambda: Warehouse(seed + 100 * rank))  # noqa: B023  # planted: makers-see-the-last-number
        # = makers.append(lambda rank=rank: Warehouse(seed + 100 * rank))
    return VecMonitor(DummyVecEnv(makers))


if __name__ == "__main__":
    model = PPO("MlpPolicy", build(8, seed=21), n_steps=256, batch_size=256, verbose=1)
    model.learn(300_000)
    model.save("warehouse")
