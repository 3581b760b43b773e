"""PPO on CartPole: sixteen environments, arrays of the final size, advantages from rldebug.parts."""

import time
from dataclasses import dataclass

import gymnasium as gym
import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

from rldebug.parts.returns import gae


@dataclass
class Config:
    envs: int = 16
    steps: int = 128
    iterations: int = 40
    epochs: int = 4
    minibatch: int = 512


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.pi = nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 2))
        self.v = nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 1))

    def forward(self, x):
        return Categorical(logits=self.pi(x), validate_args=False), self.v(x).squeeze(-1)


def main(cfg):
    torch.manual_seed(0)
    envs = gym.vector.SyncVectorEnv([lambda: gym.make("CartPole-v1") for _ in range(cfg.envs)])
    model = ActorCritic()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-4)
    obs_buf = np.zeros((cfg.steps, cfg.envs, 4), dtype=np.float32)
    act_buf = np.zeros((cfg.steps, cfg.envs), dtype=np.int64)
    rew_buf, val_buf, logp_buf = np.zeros((3, cfg.steps, cfg.envs), dtype=np.float32)
    end_buf = np.zeros((cfg.steps, cfg.envs), dtype=bool)
    gae(rew_buf, val_buf, end_buf, last_value=val_buf[0].copy(), gamma=0.99, lam=0.95)  # compiled here
    obs, _ = envs.reset(seed=0)
    started = time.perf_counter()
    for _ in range(cfg.iterations):
        for t in range(cfg.steps):
            with torch.no_grad():
                dist, value = model(torch.from_numpy(obs))
                action = dist.sample()
                logp = dist.log_prob(action)
            obs_buf[t], act_buf[t], val_buf[t], logp_buf[t] = obs, action, value, logp
            obs, rew_buf[t], terminated, truncated, _ = envs.step(act_buf[t])
            end_buf[t] = terminated | truncated
        with torch.no_grad():
            last = model(torch.from_numpy(obs))[1].numpy()
        advantage, target = gae(rew_buf, val_buf, end_buf, last_value=last, gamma=0.99, lam=0.95)
        flat = (obs_buf.reshape(-1, 4), act_buf.ravel(), logp_buf.ravel(), advantage.ravel(), target.ravel())
        x, a, old, adv, ret = (torch.from_numpy(each) for each in flat)
        for _ in range(cfg.epochs):
            for rows in torch.randperm(len(x)).split(cfg.minibatch):
                dist, value = model(x[rows])
                ratio = (dist.log_prob(a[rows]) - old[rows]).exp()
                gain = torch.min(ratio * adv[rows], ratio.clamp(0.8, 1.2) * adv[rows]).mean()
                loss = 0.5 * (value - ret[rows]).square().mean() - gain
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
    print(f"loss={loss.item():.3f} seconds={time.perf_counter() - started:.3f}")


if __name__ == "__main__":
    main(Config())
