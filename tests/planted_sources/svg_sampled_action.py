"""A stochastic actor that climbs its critic, with targets that follow slowly."""

from copy import deepcopy

import torch
from torch import nn
from torch.distributions import Normal


class Critic(nn.Module):
    def __init__(self, size, width):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(size + width, 200), nn.ELU(), nn.Linear(200, 1))

    def forward(self, state, move):
        return self.layers(torch.cat([state, move], dim=-1)).squeeze(-1)


class Learner:
    def __init__(self, size, width, gamma=0.99, keep=0.995):
        self.centre = nn.Sequential(nn.Linear(size, 200), nn.ELU(), nn.Linear(200, width))
        self.spread = nn.Parameter(torch.full((width,), -1.0))
        self.critic = Critic(size, width)
        self.frozen = deepcopy(self.critic).requires_grad_(False)
        self.of_actor = torch.optim.Adam([*self.centre.parameters(), self.spread], lr=1e-4)
        self.of_critic = torch.optim.Adam(self.critic.parameters(), lr=1e-3)
        self.gamma, self.keep = gamma, keep

    def policy(self, state):
        return Normal(self.centre(state), self.spread.exp())

    def learn_critic(self, state, move, reward, after, end):
        with torch.no_grad():
            ahead = self.frozen(after, self.policy(after).sample())
            goal = reward + self.gamma * (1.0 - end) * ahead
        error = nn.functional.mse_loss(self.critic(state, move), goal)
        self.of_critic.zero_grad()
        error.backward()
        self.of_critic.step()
        with torch.no_grad():
            for slow, fast in zip(self.frozen.parameters(), self.critic.parameters(), strict=True):
                slow.mul_(self.keep).add_((1 - self.keep) * fast)
        return error.item()

    def learn_actor(self, state):
        pi = Normal(self.centre(state), self.spread.exp())
        fresh = pi.sample()  # planted: sample-stops-the-gradient
        # = fresh = pi.rsample()
        worth = self.critic(state, fresh)
        wish = -worth.mean() - 1e-3 * pi.entropy().mean()
        self.of_actor.zero_grad()
        wish.backward()
        self.of_actor.step()
        return worth.mean().item()
