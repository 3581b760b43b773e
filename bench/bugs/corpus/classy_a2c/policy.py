from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.distributions import Categorical


class AxisCategorical(Categorical):
    """Independent choices, one per axis; logits have the shape (..., axes, options)."""

    def log_prob(self, value: Tensor) -> Tensor:
        return super().log_prob(value).sum(-1)

    def entropy(self) -> Tensor:
        return super().entropy().sum(-1)

    @property
    def greedy(self) -> Tensor:
        return self.logits.argmax(-1)


class ActorCritic(nn.Module):
    """Policy and value heads on a shared trunk."""

    def __init__(self, obs_size: int, axes: int, options: int, width: int = 64):
        super().__init__()
        self.axes, self.options = axes, options
        self.trunk = nn.Sequential(nn.Linear(obs_size, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh())
        self.policy_head = nn.Linear(width, axes * options)
        self.value_head = nn.Linear(width, 1)
        nn.init.normal_(self.policy_head.weight, std=0.01)
        nn.init.zeros_(self.policy_head.bias)

    def forward(self, obs: Tensor) -> tuple[AxisCategorical, Tensor]:
        features = self.trunk(obs)
        logits = self.policy_head(features).unflatten(-1, (self.axes, self.options))
        return AxisCategorical(logits=logits), self.value_head(features).squeeze(-1)

    def value(self, obs: Tensor) -> Tensor:
        return self.value_head(self.trunk(obs)).squeeze(-1)

    @torch.no_grad()
    def act_greedily(self, obs) -> Tensor:
        return self(torch.as_tensor(obs))[0].greedy
