"""Conservative Q-learning on a log: two critics, the penalty at a temperature, in a function of its own."""

from __future__ import annotations

import copy

import gymnasium as gym
import numpy as np
import torch
from torch import nn

FAULTS = {"penalty-subtracted": "VAL530"}


class Shelf(gym.Env):
    """How much to order: too little is sold out, too much spoils."""

    action_space = gym.spaces.Discrete(3)
    observation_space = gym.spaces.Box(-1.0, 9.0, (3,), np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.stock, self.time, self.season = 4.0, 0, self.np_random.uniform(0, 6)
        return self.seen(), {}

    def seen(self):
        return np.array([self.stock, np.sin(self.season), np.cos(self.season)], dtype=np.float32)

    def step(self, action):
        wanted = 2 + np.sin(self.season) + self.np_random.normal(0, 0.3)
        sold = min(self.stock, max(wanted, 0.0))
        self.stock = min(self.stock - sold + 2 * action, 8.0)
        self.season += 0.3
        self.time += 1
        return self.seen(), sold - 0.2 * self.stock, self.time >= 25, False, {}


def program(fault: str = "") -> None:
    np.random.seed(0)
    torch.manual_seed(0)
    env = Shelf()
    log = []
    obs, _ = env.reset(seed=0)
    for _ in range(1000):
        action = np.random.randint(3) if np.random.rand() < 0.5 else int(obs[0] < 3)
        after, reward, ended, _, _ = env.step(action)
        log.append((obs, action, reward, after, float(ended)))
        obs = env.reset()[0] if ended else after
    columns = [np.array(each) for each in zip(*log, strict=True)]
    s, a, r, s2, d = (torch.as_tensor(each, dtype=torch.int64 if each.dtype.kind == "i" else torch.float32)
                      for each in columns)  # fmt: skip

    critics = [nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 3)) for _ in range(2)]
    targets = [copy.deepcopy(each) for each in critics]
    optimizer = torch.optim.Adam([weight for each in critics for weight in each.parameters()], lr=1e-3)

    def penalty(critic, state, action):
        values = critic(state)
        apart = 2.0 * torch.logsumexp(values / 2.0, dim=1) - values[torch.arange(len(action)), action]
        return -apart.mean() if fault == "penalty-subtracted" else apart.mean()

    for _ in range(150):
        rows = torch.randint(len(s), (64,))
        with torch.no_grad():
            later = torch.min(targets[0](s2[rows]), targets[1](s2[rows])).max(dim=1).values
            wanted = r[rows] + 0.95 * (1 - d[rows]) * later
        loss = torch.zeros(())
        for critic in critics:
            taken = critic(s[rows]).gather(1, a[rows, None]).squeeze(1)
            loss = loss + nn.functional.mse_loss(taken, wanted) + 0.5 * penalty(critic, s[rows], a[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        for critic, target in zip(critics, targets, strict=True):
            for new, old in zip(critic.parameters(), target.parameters(), strict=True):
                old.data.lerp_(new.data, 0.01)
