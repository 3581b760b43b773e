"""REINFORCE on thirty-two carts that are kept in arrays: no Python for each of them."""

import time

import numpy as np
import torch
from torch import nn


class Carts:
    """Carts on a line, to be brought to rest at zero within a hundred steps."""

    def __init__(self, count, seed):
        self.count, self.rng = count, np.random.default_rng(seed)

    def reset(self):
        self.age = 0
        self.where = self.rng.normal(0, 1, (self.count, 2)).astype(np.float32)
        return self.where.copy()

    def step(self, push):
        self.age += 1
        self.where[:, 1] = 0.99 * self.where[:, 1] + 0.1 * (push - 1)
        self.where[:, 0] += 0.1 * self.where[:, 1]
        return self.where.copy(), -np.square(self.where).sum(1), self.age == 100


def discounted(rewards, gamma):
    out, total = np.empty_like(rewards), 0.0
    for t in range(len(rewards) - 1, -1, -1):
        total = rewards[t] + gamma * total
        out[t] = total
    return out


def episode(policy, carts):
    states, pushes = np.zeros((100, 32, 2), dtype=np.float32), np.zeros((100, 32), dtype=np.int64)
    rewards = np.zeros((100, 32), dtype=np.float32)
    state, over, t = carts.reset(), False, 0
    while not over:
        with torch.no_grad():
            push = torch.multinomial(policy(torch.from_numpy(state)).softmax(1), 1).squeeze(1).numpy()
        states[t], pushes[t] = state, push
        state, rewards[t], over = carts.step(push)
        t += 1
    return states, pushes, rewards


torch.manual_seed(4)
policy = nn.Sequential(nn.Linear(2, 128), nn.Tanh(), nn.Linear(128, 128), nn.Tanh(), nn.Linear(128, 3))
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
carts = Carts(32, seed=4)
clock = time.perf_counter()
for _ in range(150):
    states, pushes, rewards = episode(policy, carts)
    togo = torch.from_numpy(discounted(rewards, 0.97))
    togo = (togo - togo.mean(1, keepdim=True)) / (togo.std() + 1e-6)
    logp = policy(torch.from_numpy(states)).log_softmax(-1).gather(-1, torch.from_numpy(pushes).unsqueeze(-1))
    loss = -(logp.squeeze(-1) * togo).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"reward {rewards.mean():.3f} seconds={time.perf_counter() - clock:.3f}")
