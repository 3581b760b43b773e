"""SAC on Pendulum with networks of the usual size: most of the time goes into the updates."""

import copy
import time

import gymnasium as gym
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from rldebug.parts.ensemble import Ensemble


class Actor(nn.Module):
    def __init__(self, hidden=256):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU())
        self.out = nn.Linear(hidden, 2)

    def forward(self, obs):
        mu, log_std = self.out(self.net(obs)).chunk(2, -1)
        log_std = log_std.clamp(-5, 2)
        eps = torch.randn_like(mu)
        a = torch.tanh(mu + log_std.exp() * eps)
        return 2 * a, -0.5 * eps**2 - log_std - 0.919 - torch.log(1 - a**2 + 1e-6)


def q_function():
    return nn.Sequential(nn.Linear(4, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 1))


def sac(total=3600, lanes=8, alpha=0.2, tau=0.005):
    torch.manual_seed(3)
    rng = np.random.default_rng(3)
    actor, critics = Actor(), Ensemble(q_function, 2)
    lagged = copy.deepcopy(critics)
    ahead, behind = list(critics.parameters()), list(lagged.parameters())
    opt_a, opt_c = torch.optim.Adam(actor.parameters(), 3e-4), torch.optim.Adam(critics.parameters(), 3e-4)
    envs = gym.vector.SyncVectorEnv([lambda: gym.make("Pendulum-v1") for _ in range(lanes)])
    seen = np.zeros((total, 8), dtype=np.float32)
    obs, _ = envs.reset(seed=3)
    t0 = time.perf_counter()
    for n in range(0, total, lanes):
        with torch.no_grad():
            act = actor(torch.from_numpy(obs))[0].numpy()
        nxt, rew, _, _, _ = envs.step(act)
        rows = seen[n : n + lanes]
        rows[:, :3], rows[:, 3:4], rows[:, 4], rows[:, 5:] = obs, act, 0.1 * rew, nxt
        obs = nxt
        if n < 256:
            continue
        o, u, r, o2 = torch.from_numpy(seen[rng.integers(0, n, 256)]).split([3, 1, 1, 3], 1)
        with torch.no_grad():
            u2, logp2 = actor(o2)
            y = r + 0.99 * (lagged(torch.cat([o2, u2], 1)).amin(0) - alpha * logp2)
        critic_loss = F.mse_loss(critics(torch.cat([o, u], 1)), y.expand(2, -1, -1))
        opt_c.zero_grad()
        critic_loss.backward()
        opt_c.step()
        new, logp = actor(o)
        actor_loss = (alpha * logp - critics(torch.cat([o, new], 1)).amin(0)).mean()
        opt_a.zero_grad()
        actor_loss.backward()
        opt_a.step()
        with torch.no_grad():
            torch._foreach_lerp_(behind, ahead, tau)
    return critic_loss.item(), time.perf_counter() - t0


if __name__ == "__main__":
    print("critic loss {:.4f} seconds={:.3f}".format(*sac()))
