import torch
from torch import Tensor, nn
from torch.distributions import Normal


class ActorCritic(nn.Module):
    def __init__(self, obs_dim: int, act_dim: int, width: int = 32) -> None:
        super().__init__()
        self.mu = nn.Sequential(nn.Linear(obs_dim, width), nn.Tanh(), nn.Linear(width, act_dim))
        self.log_sigma = nn.Parameter(torch.full((act_dim,), -0.5))
        self.critic = nn.Sequential(nn.Linear(obs_dim, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 1))

    def policy(self, obs: Tensor) -> Normal:
        mu = self.mu(obs)
        return Normal(mu, self.log_sigma.exp().expand_as(mu))

    def value(self, obs: Tensor) -> Tensor:
        """In units of the value scale, see ValueScale."""
        return self.critic(obs).squeeze(-1)

    @torch.no_grad()
    def act(self, obs: Tensor, deterministic: bool = False) -> tuple[Tensor, Tensor]:
        dist = self.policy(obs)
        action = dist.mean if deterministic else dist.sample()
        return action, dist.log_prob(action).sum(-1)


class ValueScale(nn.Module):
    """Running mean and spread of the returns; the critic works in these units."""

    def __init__(self, rate: float = 0.2) -> None:
        super().__init__()
        self.rate = rate
        self.register_buffer("mean", torch.zeros(()))
        self.register_buffer("square", torch.zeros(()))
        self.register_buffer("weight", torch.zeros(()))

    @torch.no_grad()
    def update(self, returns: Tensor) -> None:
        self.mean.lerp_(returns.mean(), self.rate)
        self.square.lerp_(returns.pow(2).mean(), self.rate)
        self.weight.lerp_(torch.ones(()), self.rate)

    def _moments(self) -> tuple[Tensor, Tensor]:
        if self.weight == 0:
            return torch.zeros(()), torch.ones(())
        mean = self.mean / self.weight
        return mean, (self.square / self.weight - mean ** 2).clamp(min=1e-2).sqrt()

    def normalise(self, x: Tensor) -> Tensor:
        mean, std = self._moments()
        return (x - mean) / std

    def denormalise(self, x: Tensor) -> Tensor:
        mean, std = self._moments()
        return x * std + mean
