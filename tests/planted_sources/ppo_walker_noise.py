"""A Gaussian actor for a walker, and its update."""

import torch
import torch.nn as nn
from torch.distributions import Normal


class Walker(nn.Module):
    def __init__(self, n_obs, n_act, std=0.6):
        super().__init__()
        self.register_buffer("std", torch.full((n_act,), std))
        self.mean = nn.Sequential(
            nn.Linear(n_obs, 256), nn.Tanh(), nn.Linear(256, 256), nn.Tanh(), nn.Linear(256, n_act), nn.Tanh()
        )
        self.value = nn.Sequential(nn.Linear(n_obs, 256), nn.Tanh(), nn.Linear(256, 1))

    def distribution(self, obs):
        mean = self.mean(obs)
        spread = self.std.expand_as(mean)
        return Normal(mean, spread + 0.1 * torch.randn_like(mean))  # planted: noise-in-deviation
        #= return Normal(mean, spread)

    @torch.no_grad()
    def act(self, obs):
        dist = self.distribution(obs)
        action = dist.sample()
        return action, dist.log_prob(action).sum(-1)

    def score(self, obs, action):
        dist = self.distribution(obs)
        return dist.log_prob(action).sum(-1), dist.entropy().sum(-1), self.value(obs).squeeze(-1)


def update(walker, optimizer, memory, clip=0.2, epochs=40):
    obs, action, before, target = memory
    with torch.no_grad():
        advantage = target - walker.value(obs).squeeze(-1)
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-7)
    for _ in range(epochs):
        now, entropy, value = walker.score(obs, action)
        ratio = torch.exp(now - before)
        gain = torch.min(ratio * advantage, torch.clamp(ratio, 1 - clip, 1 + clip) * advantage)
        loss = -gain.mean() + 0.5 * (value - target).pow(2).mean() - 0.01 * entropy.mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
