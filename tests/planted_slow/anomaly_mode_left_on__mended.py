"""Soft actor-critic on Pendulum, with a switch of a search for NaN still on."""

import copy
import time
from dataclasses import dataclass, field

import gymnasium as gym
import numpy as np
import torch
from torch import nn
from torch.nn import functional as F



@dataclass
class Config:
    hidden: int = 64
    batch: int = 64
    alpha: float = 0.1
    updates: int = 450
    device: torch.device = field(default_factory=lambda: torch.device("cpu"))


class SquashedGaussian(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.torso = nn.Sequential(nn.Linear(3, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.mu, self.log_sigma = nn.Linear(width, 1), nn.Linear(width, 1)

    def forward(self, obs):
        h = self.torso(obs)
        mu, sigma = self.mu(h), self.log_sigma(h).clamp(-4, 1).exp()
        raw = mu + sigma * torch.randn_like(mu)
        logp = -0.5 * ((raw - mu) / sigma) ** 2 - sigma.log() - 0.919
        squashed = torch.tanh(raw)
        return 2 * squashed, logp - torch.log(1 - squashed**2 + 1e-6)


def q_net(width):
    return nn.Sequential(nn.Linear(4, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 1))


def sac(cfg):
    torch.manual_seed(0)
    pick = np.random.default_rng(0)
    pi, q1, q2 = SquashedGaussian(cfg.hidden), q_net(cfg.hidden), q_net(cfg.hidden)
    q1_, q2_ = copy.deepcopy(q1), copy.deepcopy(q2)
    critics, targets = [*q1.parameters(), *q2.parameters()], [*q1_.parameters(), *q2_.parameters()]
    opt_pi, opt_q = torch.optim.Adam(pi.parameters(), 1e-3), torch.optim.Adam(critics, 1e-3)
    envs = gym.vector.SyncVectorEnv([lambda: gym.make("Pendulum-v1") for _ in range(4)])
    data = np.empty((4 * cfg.updates + 400, 8), dtype=np.float32)
    obs, _ = envs.reset(seed=0)
    clock = time.perf_counter()
    for i in range(cfg.updates + 50):
        with torch.no_grad():
            act = pi(torch.from_numpy(obs))[0].numpy()
        nxt, rew, _, _, _ = envs.step(act)
        data[4 * i : 4 * i + 4] = np.hstack([obs, act, rew[:, None], nxt])
        obs = nxt
        if i < 50:
            continue
        o, a, r, o2 = torch.from_numpy(data[pick.integers(0, 4 * i, cfg.batch)]).split([3, 1, 1, 3], 1)
        with torch.no_grad():
            a2, logp2 = pi(o2)
            x2 = torch.cat([o2, a2], 1)
            y = 0.1 * r + 0.98 * (torch.minimum(q1_(x2), q2_(x2)) - cfg.alpha * logp2)
        x = torch.cat([o, a], 1)
        q_loss = F.mse_loss(q1(x), y) + F.mse_loss(q2(x), y)
        opt_q.zero_grad()
        q_loss.backward()
        opt_q.step()
        new, logp = pi(o)
        x = torch.cat([o, new], 1)
        pi_loss = (cfg.alpha * logp - torch.minimum(q1(x), q2(x))).mean()
        opt_pi.zero_grad()
        pi_loss.backward()
        opt_pi.step()
        with torch.no_grad():
            torch._foreach_lerp_(targets, critics, 0.01)
    return q_loss.item(), time.perf_counter() - clock


if __name__ == "__main__":
    loss, seconds = sac(Config())
    print(f"q loss {loss:.3f}; seconds={seconds:.3f}")
