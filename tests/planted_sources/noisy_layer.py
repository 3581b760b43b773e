"""A linear layer with learned noise, for exploration by the weights (Rainbow)."""

import math

import torch
import torch.nn.functional as F
from torch import nn


class NoisyLinear(nn.Module):
    def __init__(self, inputs: int, outputs: int, sigma: float = 0.5):
        # + super().__init__()
        self.inputs = inputs
        self.outputs = outputs
        self.weight_mu = nn.Parameter(torch.empty(outputs, inputs))  # planted: module-not-initialised
        # = self.weight_mu = nn.Parameter(torch.empty(outputs, inputs))
        self.weight_sigma = nn.Parameter(torch.full((outputs, inputs), sigma / math.sqrt(inputs)))
        self.bias_mu = nn.Parameter(torch.empty(outputs))
        self.bias_sigma = nn.Parameter(torch.full((outputs,), sigma / math.sqrt(inputs)))
        bound = 1 / math.sqrt(inputs)
        nn.init.uniform_(self.weight_mu, -bound, bound)
        nn.init.uniform_(self.bias_mu, -bound, bound)

    @staticmethod
    def stretched(size: int) -> torch.Tensor:
        noise = torch.randn(size)
        return noise.sign() * noise.abs().sqrt()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if not self.training:
            return F.linear(x, self.weight_mu, self.bias_mu)
        before, behind = self.stretched(self.inputs), self.stretched(self.outputs)
        weight = self.weight_mu + self.weight_sigma * torch.outer(behind, before)
        return F.linear(x, weight, self.bias_mu + self.bias_sigma * behind)
