"""The critic of a hockey player, made layer by layer."""

import torch
from torch import nn


class Critic(nn.Module):
    def __init__(self, seen: int, moves: int, width: int = 200):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(seen + moves, width),
            nn.ReLU(),
            nn.Linear(width, width),
            nn.ReLU(),
            nn.Linear(width, 1),
            nn.Tanh(),  # planted: value-ends-in-activation
        )

    def forward(self, seen: torch.Tensor, move: torch.Tensor) -> torch.Tensor:
        return self.layers(torch.cat([seen, move], dim=-1)).squeeze(-1)


class Player:
    def __init__(self, actor: nn.Module, seen: int = 18, moves: int = 4):
        self.actor = actor
        self.critic, self.critic_before = Critic(seen, moves), Critic(seen, moves)
        self.critic_before.load_state_dict(self.critic.state_dict())
        self.optimizer = torch.optim.Adam(self.critic.parameters(), lr=1e-3)
        self.error = nn.SmoothL1Loss()

    def learn(self, seen, move, reward, after, over, discount=0.95):
        with torch.no_grad():
            goal = reward + discount * (1.0 - over) * self.critic_before(after, self.actor(after))
        guess = self.critic(seen, move)
        loss = self.error(guess, goal)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        with torch.no_grad():
            for old, new in zip(self.critic_before.parameters(), self.critic.parameters(), strict=True):
                old.lerp_(new, 0.01)
        return loss.item()
