import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class NoisyLinear(nn.Module):
    """Linear layer with factorised Gaussian noise; the noise is off in eval mode."""

    def __init__(self, in_features: int, out_features: int, sigma0: float = 0.1):
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        bound = 1.0 / math.sqrt(in_features)
        self.mu_w = nn.Parameter(torch.empty(out_features, in_features).uniform_(-bound, bound))
        self.mu_b = nn.Parameter(torch.empty(out_features).uniform_(-bound, bound))
        self.sigma_w = nn.Parameter(torch.full((out_features, in_features), sigma0 * bound))
        self.sigma_b = nn.Parameter(torch.full((out_features,), sigma0 * bound))
        self.register_buffer("eps_in", torch.zeros(in_features))
        self.register_buffer("eps_out", torch.zeros(out_features))
        self.resample()

    @staticmethod
    def _shape(x: torch.Tensor) -> torch.Tensor:
        return x.sign() * x.abs().sqrt()

    def resample(self):
        self.eps_in.copy_(self._shape(torch.randn(self.in_features)))
        self.eps_out.copy_(self._shape(torch.randn(self.out_features)))

    def forward(self, x):
        if not self.training:
            return F.linear(x, self.mu_w, self.mu_b)
        weight = self.mu_w + self.sigma_w * torch.outer(self.eps_out, self.eps_in)
        bias = self.mu_b + self.sigma_b * self.eps_out
        return F.linear(x, weight, bias)


class DuelingCategoricalNet(nn.Module):
    """Returns log-probabilities of the atoms, shape (batch, actions, atoms)."""

    def __init__(self, obs_dim: int, n_actions: int, support: torch.Tensor, hidden: int = 48, sigma0: float = 0.1):
        super().__init__()
        self.n_actions, self.n_atoms = n_actions, len(support)
        self.register_buffer("support", support)
        self.body = nn.Linear(obs_dim, hidden)
        self.value_head = NoisyLinear(hidden, self.n_atoms, sigma0)
        self.advantage_head = NoisyLinear(hidden, n_actions * self.n_atoms, sigma0)

    def forward(self, obs):
        h = torch.relu(self.body(obs))
        value = self.value_head(h).view(-1, 1, self.n_atoms)
        advantage = self.advantage_head(h).view(-1, self.n_actions, self.n_atoms)
        logits = value + advantage - advantage.mean(dim=1, keepdim=True)
        return F.log_softmax(logits, dim=-1)

    def q_values(self, obs):
        return (self(obs).exp() * self.support).sum(dim=-1)

    def resample_noise(self):
        self.value_head.resample()
        self.advantage_head.resample()
