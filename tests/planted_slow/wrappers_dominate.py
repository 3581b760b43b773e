# planted: PRF926 wrappers-dominate
# part: wrappers
"""A2C on MountainCarContinuous with a history of observations that a wrapper puts together."""

import time
from collections import deque

import gymnasium as gym
import numpy as np
import torch
from torch import nn


class History(gym.Wrapper):
    """The last forty observations, each beside its mean and spread over them."""

    def __init__(self, env, depth=40):
        super().__init__(env)
        self.depth, self.past = depth, deque(maxlen=depth)
        self.observation_space = gym.spaces.Box(-np.inf, np.inf, (depth * 2 + 4,), np.float32)

    def _joined(self):
        columns = list(zip(*[each.tolist() for each in self.past]))
        means = [sum(column) / self.depth for column in columns]
        spreads = [(sum((x - m) ** 2 for x in row) / self.depth) ** 0.5 for row, m in zip(columns, means)]  # here
        rows = [(x - m) / (s + 1e-3) for each in self.past for x, m, s in zip(each, means, spreads)]
        return np.array(rows + means + spreads, dtype=np.float32)

    def reset(self, **given):
        obs, info = self.env.reset(**given)
        self.past.extend([obs] * self.depth)
        return self._joined(), info

    def step(self, action):
        obs, reward, dead, cut, info = self.env.step(action)
        self.past.append(obs)
        return self._joined(), reward, dead, cut, info


def car():
    return History(gym.make("MountainCarContinuous-v0"))


class Driver(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(84, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh())
        self.pedal, self.worth = nn.Linear(64, 1), nn.Linear(64, 1)

    def forward(self, x):
        x = self.inner(x)
        return torch.distributions.Normal(self.pedal(x), 0.5), self.worth(x)


torch.manual_seed(12)
cars = gym.vector.SyncVectorEnv([car] * 8)
driver = Driver()
tuner = torch.optim.Adam(driver.parameters(), lr=1e-3)
seen, _ = cars.reset(seed=12)
at_first = time.perf_counter()
for _ in range(260):
    X, U, G = [], [], []
    for _ in range(16):
        with torch.no_grad():
            u = driver(torch.from_numpy(seen))[0].sample()
        X.append(seen)
        U.append(u)
        seen, gain, _, _, _ = cars.step(u.clamp(-1, 1).numpy())
        G.append(gain)
    togo = np.cumsum(np.array(G)[::-1], 0)[::-1].astype(np.float32).reshape(-1, 1)
    dist, worth = driver(torch.from_numpy(np.concatenate(X)))
    lack = torch.from_numpy(togo) - worth
    loss = lack.square().mean() - (dist.log_prob(torch.cat(U)) * lack.detach()).mean()
    tuner.zero_grad()
    loss.backward()
    tuner.step()
print(f"loss {loss.item():.4f} seconds={time.perf_counter() - at_first:.3f}")
