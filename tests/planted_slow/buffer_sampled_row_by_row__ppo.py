# planted: PRF929 buffer-sampled-row-by-row
# part: buffer sample
"""PPO with a Gaussian policy on Pendulum; what was seen is kept in lists of tensors."""

import time

import gymnasium as gym
import numpy as np
import torch
from torch import nn
from torch.distributions import Normal


class Policy(nn.Module):
    def __init__(self, obs_dim, act_dim, width=64):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(obs_dim, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh())
        self.mean = nn.Linear(width, act_dim)
        self.log_std = nn.Parameter(torch.zeros(act_dim) - 0.5)
        self.baseline = nn.Linear(width, 1)

    def forward(self, x):
        h = self.body(x)
        return Normal(self.mean(h), self.log_std.exp()), self.baseline(h).squeeze(-1)


class Memory:
    """Everything of one rollout."""

    def __init__(self):
        self.rows = []

    def push(self, *row):
        self.rows += list(zip(*row))

    def batch(self, which):
        picked = [self.rows[k] for k in which]
        return [torch.stack(column) for column in zip(*picked)]  # here


class Trainer:
    lanes, horizon, rounds, epochs, minibatch = 8, 128, 32, 8, 256

    def __init__(self, seed=3):
        torch.manual_seed(seed)
        self.venv = gym.vector.SyncVectorEnv([lambda: gym.make("Pendulum-v1") for _ in range(self.lanes)])
        self.policy = Policy(3, 1)
        self.adam = torch.optim.Adam(self.policy.parameters(), lr=3e-4)
        self.seen, _ = self.venv.reset(seed=seed)

    def gather(self):
        kept, rewards, values = [], [], []
        for _ in range(self.horizon):
            x = torch.from_numpy(self.seen)
            with torch.no_grad():
                dist, v = self.policy(x)
                u = dist.sample()
                logp = dist.log_prob(u).sum(-1)
            self.seen, r, _, _, _ = self.venv.step(2.0 * np.tanh(u.numpy()))
            kept.append((x, u, logp))
            rewards.append(torch.from_numpy(r * 0.1).float())
            values.append(v)
        with torch.no_grad():
            carry = self.policy(torch.from_numpy(self.seen))[1]
        memory = Memory()
        for (x, u, logp), r, v in zip(reversed(kept), reversed(rewards), reversed(values)):
            carry = r + 0.97 * carry
            memory.push(x, u, logp, carry - v, carry)
        return memory

    def learn(self, memory):
        for _ in range(self.epochs):
            order = torch.randperm(self.lanes * self.horizon)
            for which in order.split(self.minibatch):
                x, u, old, adv, target = memory.batch(which)
                dist, v = self.policy(x)
                ratio = (dist.log_prob(u).sum(-1) - old).exp()
                surrogate = torch.min(ratio * adv, ratio.clamp(0.8, 1.2) * adv).mean()
                loss = -surrogate + 0.5 * (v - target).square().mean()
                self.adam.zero_grad()
                loss.backward()
                self.adam.step()
        return loss.item()


if __name__ == "__main__":
    trainer = Trainer()
    begin = time.perf_counter()
    for _ in range(trainer.rounds):
        last = trainer.learn(trainer.gather())
    print(f"loss {last:.3f} seconds={time.perf_counter() - begin:.3f}")
