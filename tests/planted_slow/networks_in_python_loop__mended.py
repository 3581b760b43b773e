"""REDQ on Pendulum: ten critics."""

import copy
import time
from dataclasses import dataclass

import gymnasium as gym
import numpy as np
import torch
import torch.nn as nn

from rldebug.parts.ensemble import Ensemble


@dataclass(frozen=True)
class Hyper:
    critics: int = 10
    subset: int = 2
    hidden: int = 64
    batch: int = 64
    steps: int = 500
    polyak: float = 0.995


def mlp(n_in, width, n_out):
    return nn.Sequential(nn.Linear(n_in, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, n_out))


class Redq:
    def __init__(self, hp):
        self.hp = hp
        self.pi = mlp(3, hp.hidden, 2)
        self.qs = Ensemble(lambda: mlp(4, hp.hidden, 1), hp.critics)
        self.qs_lag = copy.deepcopy(self.qs)
        self.opt_pi = torch.optim.Adam(self.pi.parameters(), lr=3e-4)
        self.opt_q = torch.optim.Adam(self.qs.parameters(), lr=3e-4)

    def sample(self, o):
        mean, log_std = self.pi(o).chunk(2, -1)
        std = log_std.clamp(-5, 1).exp()
        z = mean + std * torch.randn_like(mean)
        u = torch.tanh(z)
        return 2 * u, -0.5 * ((z - mean) / std) ** 2 - std.log() - torch.log(1 - u * u + 1e-6)

    def values(self, critics, x):
        return critics(x)

    def learn(self, o, u, r, o2):
        with torch.no_grad():
            u2, logp2 = self.sample(o2)
            every = self.values(self.qs_lag, torch.cat([o2, u2], 1))
            few = torch.randperm(self.hp.critics)[: self.hp.subset]
            y = 0.1 * r + 0.99 * (every[few].amin(0) - 0.1 * logp2)
        loss_q = (self.values(self.qs, torch.cat([o, u], 1)) - y).square().mean((1, 2)).sum()
        self.opt_q.zero_grad()
        loss_q.backward()
        self.opt_q.step()
        new, logp = self.sample(o)
        loss_pi = (0.1 * logp - self.values(self.qs, torch.cat([o, new], 1)).mean(0)).mean()
        self.opt_pi.zero_grad()
        loss_pi.backward()
        self.opt_pi.step()
        with torch.no_grad():
            lagging, leading = list(self.qs_lag.parameters()), list(self.qs.parameters())
            torch._foreach_lerp_(lagging, leading, 1 - self.hp.polyak)
        return loss_q.item()


def main():
    hp = Hyper()
    torch.manual_seed(8)
    rng = np.random.default_rng(8)
    redq = Redq(hp)
    swings = gym.vector.SyncVectorEnv([lambda: gym.make("Pendulum-v1") for _ in range(8)])
    past = np.zeros((8 * hp.steps, 8), dtype=np.float32)
    started = time.perf_counter()
    o, _ = swings.reset(seed=8)
    for k in range(hp.steps):
        with torch.no_grad():
            u = redq.sample(torch.from_numpy(o))[0].numpy()
        o2, r, _, _, _ = swings.step(u)
        past[8 * k : 8 * k + 8] = np.concatenate([o, u, r[:, None], o2], 1)
        o = o2
        if k >= 16:
            batch = torch.from_numpy(past[rng.integers(0, 8 * k, hp.batch)])
            loss = redq.learn(*batch.split([3, 1, 1, 3], 1))
    print(f"q loss {loss:.3f} seconds={time.perf_counter() - started:.3f}")


if __name__ == "__main__":
    main()
