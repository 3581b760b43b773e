"""Soft actor-critic with two critics; the actor was taken over from a TD3."""

from copy import deepcopy

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Normal


class Actor(nn.Module):
    def __init__(self, size, width):
        super().__init__()
        self.first = nn.Linear(size, 256)
        self.second = nn.Linear(256, 256)
        self.centre = nn.Linear(256, width)
        self.spread = nn.Linear(256, width)

    def forward(self, x):
        x = F.relu(self.second(F.relu(self.first(x))))
        centre = torch.tanh(self.centre(x))
        # + centre = self.centre(x)
        pi = Normal(centre, self.spread(x).clamp(-20, 2).exp())
        raw = pi.rsample()
        move = torch.tanh(raw)  # planted: mean-squashed-before-sampling
        # = move = torch.tanh(raw)
        score = pi.log_prob(raw) - torch.log(1 - move.pow(2) + 1e-6)
        return move, score.sum(-1, keepdim=True)


class Soft:
    def __init__(self, size, width, alpha=0.2, gamma=0.99, tau=0.005):
        self.actor = Actor(size, width)
        self.critics = nn.ModuleList(
            nn.Sequential(nn.Linear(size + width, 256), nn.ReLU(), nn.Linear(256, 1)) for _ in range(2)
        )
        self.slow = deepcopy(self.critics)
        self.of_actor = torch.optim.Adam(self.actor.parameters(), lr=3e-4)
        self.of_critics = torch.optim.Adam(self.critics.parameters(), lr=3e-4)
        self.alpha, self.gamma, self.tau = alpha, gamma, tau

    def worst(self, critics, s, a):
        both = [critic(torch.cat([s, a], -1)) for critic in critics]
        return torch.min(both[0], both[1])

    def update(self, s, a, r, s2, end):
        with torch.no_grad():
            a2, score2 = self.actor(s2)
            goal = r + self.gamma * (1 - end) * (self.worst(self.slow, s2, a2) - self.alpha * score2)
        loss = sum(F.mse_loss(critic(torch.cat([s, a], -1)), goal) for critic in self.critics)
        self.of_critics.zero_grad()
        loss.backward()
        self.of_critics.step()
        fresh, score = self.actor(s)
        wish = (self.alpha * score - self.worst(self.critics, s, fresh)).mean()
        self.of_actor.zero_grad()
        wish.backward()
        self.of_actor.step()
        with torch.no_grad():
            for p, q in zip(self.critics.parameters(), self.slow.parameters(), strict=True):
                q.mul_(1 - self.tau).add_(self.tau * p)
