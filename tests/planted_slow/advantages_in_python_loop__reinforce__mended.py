"""REINFORCE on a particle that is to be kept near the origin; one long episode per update."""

import time

import numpy as np
import torch
from torch import nn


class Particle:
    """A mass on a line, pushed left or right. Sixteen of them at once."""

    size, horizon = 16, 400

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def reset(self):
        self.clock = 0
        self.state = self.rng.normal(0, 0.3, (self.size, 2)).astype(np.float32)
        return self.state.copy()

    def step(self, push):
        self.clock += 1
        self.state[:, 1] += 0.05 * (2 * push - 1) + self.rng.normal(0, 0.01, self.size)
        self.state[:, 0] += 0.05 * self.state[:, 1]
        return self.state.copy(), -np.abs(self.state[:, 0]), self.clock >= self.horizon


def returns_of(rewards, gamma):
    from rldebug.parts.returns import reward_to_go

    rewards = np.asarray(rewards)
    never = np.zeros(rewards.shape, dtype=bool)
    nothing = np.zeros(rewards.shape[1])
    return reward_to_go(rewards, never, last_value=nothing, gamma=gamma).astype(np.float32)


torch.manual_seed(0)
world = Particle(seed=0)
pi = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 2))
sgd = torch.optim.Adam(pi.parameters(), lr=1e-3)
returns_of([np.zeros(16), np.zeros(16)], 0.99)

clock = time.perf_counter()
for episode in range(30):
    s, over = world.reset(), False
    S, A, R = [], [], []
    while not over:
        with torch.no_grad():
            a = torch.distributions.Categorical(logits=pi(torch.from_numpy(s))).sample().numpy()
        S.append(s)
        A.append(a)
        s, r, over = world.step(a)
        R.append(r)
    G = torch.from_numpy(returns_of(R, 0.99))
    G = (G - G.mean()) / G.std()
    dist = torch.distributions.Categorical(logits=pi(torch.from_numpy(np.array(S))))
    surrogate = -(dist.log_prob(torch.from_numpy(np.array(A))) * G).mean()
    sgd.zero_grad()
    surrogate.backward()
    sgd.step()
print(f"final reward {np.mean(R[-1]):.3f}, seconds={time.perf_counter() - clock:.3f}")
