"""A policy trained on one body goes on with another: the last layer is exchanged."""

import torch
from torch import nn
from torch.distributions import Normal


class Policy(nn.Module):
    def __init__(self, observations: int, actions: int) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(observations, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh())
        self.mean = nn.Linear(64, actions)
        self.spread = nn.Parameter(torch.zeros(1))

    def forward(self, x: torch.Tensor) -> Normal:
        return Normal(self.mean(self.body(x)), self.spread.exp())


class Finetuner:
    def __init__(self, weights: dict, observations: int, old_actions: int, actions: int, rate: float = 1e-4) -> None:
        self.policy = Policy(observations, old_actions)
        self.policy.load_state_dict(weights)
        self.optimizer = torch.optim.Adam(self.policy.parameters(), lr=rate)
        self.policy.mean = nn.Linear(64, actions)  # planted: network-replaced-after-optimizer
        # = self.policy.mean = nn.Linear(64, actions)
        # = self.optimizer = torch.optim.Adam(self.policy.parameters(), lr=rate)

    def update(self, obs: torch.Tensor, actions: torch.Tensor, advantages: torch.Tensor) -> float:
        score = self.policy(obs).log_prob(actions).sum(-1)
        loss = -(score * advantages).mean()
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.policy.parameters(), 0.5)
        self.optimizer.step()
        return loss.item()
