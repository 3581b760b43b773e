"""TD3 with twin critics; settings in a dataclass."""

import copy
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class Settings:
    gamma: float = 0.99
    rate: float = 0.005
    noise: float = 0.2
    noise_limit: float = 0.5
    every: int = 2


class Twin(nn.Module):
    def __init__(self, obs_dim, act_dim, width=256):
        super().__init__()
        self.first = nn.Sequential(nn.Linear(obs_dim + act_dim, width), nn.ReLU(), nn.Linear(width, 1))
        self.second = nn.Sequential(nn.Linear(obs_dim + act_dim, width), nn.ReLU(), nn.Linear(width, 1))

    def forward(self, obs, act):
        both = torch.cat([obs, act], dim=-1)
        return self.first(both), self.second(both)


class Td3:
    def __init__(self, obs_dim, act_dim, settings=None):
        self.cfg = settings or Settings()
        self.actor = nn.Sequential(nn.Linear(obs_dim, 256), nn.ReLU(), nn.Linear(256, act_dim), nn.Tanh())
        self.critic = Twin(obs_dim, act_dim)
        self.actor_lag = copy.deepcopy(self.actor)
        self.critic_lag = copy.deepcopy(self.critic)
        self.actor_optim = torch.optim.Adam(self.actor.parameters(), lr=3e-4)
        self.critic_optim = torch.optim.Adam(self.critic.parameters(), lr=3e-4)
        self.updates = 0

    def lag(self, slow, fast):
        for s, f in zip(slow.parameters(), fast.parameters()):
            s.data.copy_(self.cfg.rate * s.data + (1 - self.cfg.rate) * f.data)  # planted: blend-rates-swapped
            #= s.data.copy_((1 - self.cfg.rate) * s.data + self.cfg.rate * f.data)

    def update(self, obs, act, rew, nxt, ended):
        cfg = self.cfg
        with torch.no_grad():
            jitter = (torch.randn_like(act) * cfg.noise).clamp(-cfg.noise_limit, cfg.noise_limit)
            q1, q2 = self.critic_lag(nxt, (self.actor_lag(nxt) + jitter).clamp(-1, 1))
            goal = rew + cfg.gamma * (1 - ended) * torch.min(q1, q2)
        one, two = self.critic(obs, act)
        critic_loss = F.mse_loss(one, goal) + F.mse_loss(two, goal)
        self.critic_optim.zero_grad()
        critic_loss.backward()
        self.critic_optim.step()
        self.updates += 1
        if self.updates % cfg.every == 0:
            actor_loss = -self.critic(obs, self.actor(obs))[0].mean()
            self.actor_optim.zero_grad()
            actor_loss.backward()
            self.actor_optim.step()
            self.lag(self.actor_lag, self.actor)
            self.lag(self.critic_lag, self.critic)
