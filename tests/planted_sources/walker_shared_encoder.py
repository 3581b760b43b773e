"""Advantage actor-critic whose two heads look through one encoder."""

import torch
from torch import nn
from torch.distributions import Independent, Normal


def make_encoder(observations, width=128):
    return nn.Sequential(nn.Linear(observations, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh())


class Actor(nn.Module):
    def __init__(self, encoder, width, actions):
        super().__init__()
        self.encoder = encoder
        self.mean = nn.Linear(width, actions)
        self.log_std = nn.Parameter(torch.full((actions,), -0.5))

    def forward(self, obs):
        return Independent(Normal(self.mean(self.encoder(obs)), self.log_std.exp()), 1)


class Critic(nn.Module):
    def __init__(self, encoder, width):
        super().__init__()
        self.encoder = encoder
        self.value = nn.Linear(width, 1)

    def forward(self, obs):
        return self.value(self.encoder(obs)).squeeze(-1)


class Walker:
    def __init__(self, observations, actions, lr=7e-4):
        encoder = make_encoder(observations)
        self.actor = Actor(encoder, 128, actions)
        self.critic = Critic(encoder, 128)
        both = list(self.actor.parameters()) + list(self.critic.parameters())
        self.optimizer = torch.optim.Adam(both, lr=lr)  # planted: parameters-listed-twice
        # = both = list(self.actor.parameters()) + list(self.critic.value.parameters())
        # = self.optimizer = torch.optim.Adam(both, lr=lr)

    def update(self, obs, actions, returns):
        values = self.critic(obs)
        policy = self.actor(obs)
        advantage = (returns - values).detach()
        loss = -(policy.log_prob(actions) * advantage).mean()
        loss = loss + 0.5 * (returns - values).pow(2).mean() - 0.01 * policy.entropy().mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()
