"""The policy of a soft actor-critic and its evaluation."""

import gymnasium as gym
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Normal


class Squashed(nn.Module):
    def __init__(self, size, width, bound):
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(size, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU())
        self.mean = nn.Linear(256, width)
        self.log_std = nn.Linear(256, width)
        self.bound = bound

    def forward(self, x, best=False, with_score=True):
        x = self.inner(x)
        mean, log_std = self.mean(x), self.log_std(x).clamp(-20, 2)
        pi = Normal(mean, log_std.exp())
        raw = pi.rsample()  # planted: sampling-flag-never-read
        # = raw = mean if best else pi.rsample()
        score = None
        if with_score:
            score = pi.log_prob(raw).sum(-1)
            score = score - (2 * (np.log(2) - raw - F.softplus(-2 * raw))).sum(-1)
        return self.bound * torch.tanh(raw), score


def evaluate(policy, name, episodes=10):
    env = gym.make(name)
    scores = []
    for number in range(episodes):
        seen, _ = env.reset(seed=500 + number)
        total, over = 0.0, False
        while not over:
            with torch.no_grad():
                move, _ = policy(torch.as_tensor(seen), best=True, with_score=False)
            seen, reward, terminated, truncated, _ = env.step(move.numpy())
            total += reward
            over = terminated or truncated
        scores.append(total)
    return float(np.mean(scores))
