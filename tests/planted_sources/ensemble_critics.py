"""REDQ: an ensemble of critics, of which two random ones give each target."""

import random

import torch
import torch.nn as nn
import torch.nn.functional as F


def mlp(inputs, outputs, width=256):
    return nn.Sequential(
        nn.Linear(inputs, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, outputs)
    )


class Critic(nn.Module):
    def __init__(self, inputs):
        super().__init__()
        self.body = mlp(inputs, 1)

    def forward(self, state, action):
        return self.body(torch.cat([state, action], dim=-1)).squeeze(-1)


class Ensemble(nn.Module):
    def __init__(self, inputs, members=10):
        super().__init__()
        self.offset = nn.Parameter(torch.zeros(()))
        self.members = [Critic(inputs) for _ in range(members)]  # planted: layers-in-a-plain-list
        # = self.members = nn.ModuleList(Critic(inputs) for _ in range(members))

    def forward(self, state, action):
        return torch.stack([member(state, action) for member in self.members]) + self.offset

    def lowest_of_two(self, state, action):
        chosen = random.sample(range(len(self.members)), 2)
        return torch.min(*[self.members[each](state, action) for each in chosen]) + self.offset


class Redq:
    def __init__(self, states, actions, actor, discount=0.99, tau=0.005):
        self.actor = actor
        self.critics = Ensemble(states + actions)
        self.slow = Ensemble(states + actions)
        self.slow.load_state_dict(self.critics.state_dict())
        self.adam = torch.optim.Adam(self.critics.parameters(), lr=3e-4)
        self.discount, self.tau = discount, tau

    def train_critics(self, batch):
        state, action, reward, after, terminal = batch
        with torch.no_grad():
            next_action, _ = self.actor(after)
            goal = reward + self.discount * (1 - terminal) * self.slow.lowest_of_two(after, next_action)
        values = self.critics(state, action)
        loss = F.mse_loss(values, goal.expand_as(values))
        self.adam.zero_grad()
        loss.backward()
        self.adam.step()
        with torch.no_grad():
            for slow, fast in zip(self.slow.parameters(), self.critics.parameters(), strict=True):
                slow.lerp_(fast, self.tau)
        return loss.item()
