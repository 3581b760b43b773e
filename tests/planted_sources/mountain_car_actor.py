"""TD3's actor and twin critics for MountainCarContinuous."""

import torch
from torch import nn


class Actor(nn.Module):
    def __init__(self, states: int = 2, actions: int = 1, width: int = 128, reach: float = 1.0):
        super().__init__()
        self.first = nn.Linear(states, width)
        self.second = nn.Linear(width, width)
        self.last = nn.Linear(width, actions)
        self.reach = reach

    def forward(self, state: torch.Tensor) -> torch.Tensor:
        h = torch.relu(self.first(state))
        h = self.second(h)
        return self.reach * torch.tanh(self.last(h))  # planted: two-layers-without-activation
        # = return self.reach * torch.tanh(self.last(torch.relu(h)))


class Twin(nn.Module):
    def __init__(self, states: int = 2, actions: int = 1, width: int = 128):
        super().__init__()
        self.q = nn.ModuleList(
            nn.Sequential(
                nn.Linear(states + actions, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 1)
            )
            for _ in range(2)
        )

    def forward(self, state: torch.Tensor, action: torch.Tensor) -> list[torch.Tensor]:
        both = torch.cat([state, action], dim=-1)
        return [each(both).squeeze(-1) for each in self.q]


def goal(actor: Actor, twin: Twin, reward, after, ended, gamma=0.99, spread=0.2, limit=0.5):
    with torch.no_grad():
        noise = (torch.randn(len(after), 1) * spread).clamp(-limit, limit)
        action = (actor(after) + noise).clamp(-actor.reach, actor.reach)
        return reward + gamma * (1 - ended) * torch.min(*twin(after, action))
