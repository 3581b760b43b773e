"""A policy for HalfCheetah that normalises what it sees by itself."""

import torch
from torch import nn
from torch.distributions import Normal


class NormedPolicy(nn.Module):
    def __init__(self, observations: int = 17, actions: int = 6):
        super().__init__()
        self.centre = torch.zeros(observations)  # planted: statistics-not-a-buffer
        # = self.register_buffer("centre", torch.zeros(observations))
        self.register_buffer("spread", torch.ones(observations))
        self.register_buffer("seen", torch.tensor(1e-4))
        self.body = nn.Sequential(nn.Linear(observations, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh())
        self.mean = nn.Linear(64, actions)
        self.log_std = nn.Parameter(torch.zeros(actions))

    @torch.no_grad()
    def watch(self, batch: torch.Tensor) -> None:
        count = len(batch)
        total = self.seen + count
        off = batch.mean(0) - self.centre
        squares = self.spread * self.seen + batch.var(0, unbiased=False) * count
        self.spread = (squares + off.square() * self.seen * count / total) / total
        self.centre = self.centre + off * count / total
        self.seen = total

    def forward(self, observation: torch.Tensor) -> Normal:
        scaled = ((observation - self.centre) / (self.spread + 1e-8).sqrt()).clamp(-10, 10)
        return Normal(self.mean(self.body(scaled)), self.log_std.exp())


def save(policy: NormedPolicy, file: str) -> None:
    torch.save(policy.state_dict(), file)


def load(file: str) -> NormedPolicy:
    policy = NormedPolicy()
    policy.load_state_dict(torch.load(file, weights_only=True, map_location="cpu"))
    return policy.eval()
