"""DDPG on Pendulum that is tried out again and again."""

import copy
import time

import gymnasium as gym
import numpy as np
import torch
from torch import nn

TRIAL_EVERY = 100


def dense(*sizes, last):
    rows = []
    for a, b in zip(sizes[:-1], sizes[1:]):
        rows += [nn.Linear(a, b), nn.ReLU()]
    return nn.Sequential(*rows[:-1], last)


class Agent:
    def __init__(self):
        self.mu = dense(3, 64, 64, 1, last=nn.Tanh())
        self.q = dense(4, 64, 64, 1, last=nn.Identity())
        self.mu_t, self.q_t = copy.deepcopy(self.mu), copy.deepcopy(self.q)
        self.mu_opt = torch.optim.Adam(self.mu.parameters(), 1e-4)
        self.q_opt = torch.optim.Adam(self.q.parameters(), 1e-3)

    @torch.no_grad()
    def act(self, x, noise=0.0):
        u = self.mu(torch.as_tensor(x)) * 2
        return (u + noise * torch.randn_like(u)).clamp(-2, 2).numpy()

    def update(self, x, u, r, x2):
        with torch.no_grad():
            y = 0.1 * r + 0.98 * self.q_t(torch.cat([x2, 2 * self.mu_t(x2)], 1))
        q_loss = (self.q(torch.cat([x, u], 1)) - y).pow(2).mean()
        self.q_opt.zero_grad()
        q_loss.backward()
        self.q_opt.step()
        mu_loss = -self.q(torch.cat([x, 2 * self.mu(x)], 1)).mean()
        self.mu_opt.zero_grad()
        mu_loss.backward()
        self.mu_opt.step()
        with torch.no_grad():
            for slow, fast in ((self.mu_t, self.mu), (self.q_t, self.q)):
                torch._foreach_lerp_(list(slow.parameters()), list(fast.parameters()), 0.01)


def trial(agent, arena, episodes=5):
    """Mean return without noise."""
    total = 0.0
    for k in range(episodes):
        x, _ = arena.reset(seed=1000 + k)
        while True:
            x, r, dead, late, _ = arena.step(agent.act(x))
            total += r
            if dead or late:
                break
    return total / episodes


def main():
    torch.manual_seed(5)
    rng = np.random.default_rng(5)
    agent, arena = Agent(), gym.make("Pendulum-v1")
    pool = gym.vector.SyncVectorEnv([lambda: gym.make("Pendulum-v1") for _ in range(4)])
    book = np.zeros((8000, 8), dtype=np.float32)
    x, _ = pool.reset(seed=5)
    scores = []
    t_start = time.perf_counter()
    for k in range(1200):
        u = agent.act(x, noise=0.4)
        x2, r, _, _, _ = pool.step(u)
        book[4 * k : 4 * k + 4] = np.concatenate([x, u, r[:, None], x2], 1)
        x = x2
        if k > 20:
            agent.update(*torch.from_numpy(book[rng.integers(0, 4 * k, 64)]).split([3, 1, 1, 3], 1))
        if k % TRIAL_EVERY == TRIAL_EVERY - 1:
            scores.append(trial(agent, arena))
    print(f"best {max(scores):.1f} seconds={time.perf_counter() - t_start:.3f}")


if __name__ == "__main__":
    main()
