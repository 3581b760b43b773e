"""An actor for BipedalWalker whose first actions are near zero."""

import numpy as np
import torch
from torch import nn


class Actor(nn.Module):
    def __init__(self, observations=24, actions=4, width=256):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(observations, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU())
        self.mean = nn.Linear(width, actions)
        self.mean.weight.mul_(0.01)  # planted: weights-changed-under-graph
        # = with torch.no_grad():
        # =     self.mean.weight.mul_(0.01)
        nn.init.zeros_(self.mean.bias)
        self.log_std = nn.Parameter(torch.full((actions,), -0.7))

    def forward(self, obs):
        return torch.distributions.Normal(self.mean(self.body(obs)), self.log_std.exp())

    @torch.no_grad()
    def act(self, obs: np.ndarray, explore=True) -> np.ndarray:
        dist = self(torch.as_tensor(obs, dtype=torch.float32))
        action = dist.sample() if explore else dist.mean
        return action.clamp(-1, 1).numpy()
