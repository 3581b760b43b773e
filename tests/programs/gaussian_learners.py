"""A small Gaussian actor-critic with actions of three numbers, by a ratio or without, with a fault each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from torch import Tensor, nn
from torch.distributions import Beta, Distribution, Normal
from torch.nn.functional import softplus


class Drift(gym.Env[Any, Any]):
    """Three numbers that are pushed, and paid for being near zero. Draws from its own generator."""

    observation_space = gym.spaces.Box(-np.inf, np.inf, (3,), np.float32)
    action_space = gym.spaces.Box(-1.0, 1.0, (3,), np.float32)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.x, self.t = self.np_random.normal(size=3), 0
        return self.x.astype(np.float32), {}

    def step(self, action: Any) -> Any:
        self.x = 0.9 * self.x + 0.1 * np.clip(action, -1, 1) + 0.3 * self.np_random.normal(size=3)
        self.t += 1
        return self.x.astype(np.float32), -float(np.abs(self.x).sum()), False, self.t >= 40, {}


def summed(logp: Tensor) -> Tensor:
    return logp.sum(-1)


def averaged(logp: Tensor) -> Tensor:
    return logp.mean(-1)


def same(action: Tensor) -> Tensor:
    return action


def beta(mean: Tensor, deviation: Tensor) -> Distribution:
    """Another distribution over as many numbers, of what would be means and deviations."""
    return Beta(1.0 + softplus(mean), 1.0 + deviation)


def learn(
    reduce: Callable[[Tensor], Tensor] = summed,
    changed: Callable[[Tensor], Tensor] = same,
    *,
    ratio: bool = False,
    apart: bool = False,
    make: Callable[[Tensor, Tensor], Distribution] = Normal,
    seed: int | None = 0,
    updates: int = 12,
) -> None:
    """`changed`: what is made of a draw before it is executed and stored. `apart`: two losses, and no entropy."""
    torch.manual_seed(0)
    np.random.seed(0)
    env = Drift()
    policy, critic = nn.Linear(3, 3), nn.Linear(3, 1)
    deviation = nn.Parameter(torch.zeros(3))
    optimizer = torch.optim.SGD([*policy.parameters(), deviation, *critic.parameters()], 1e-3)
    obs, _ = env.reset(seed=seed)
    for _ in range(updates):
        states, actions, old, rewards = [], [], [], []
        for _ in range(24):
            state = torch.as_tensor(obs)
            with torch.no_grad():
                pi = make(policy(state), deviation.exp())
                action = changed(pi.sample())
                old.append(reduce(pi.log_prob(action)))
            obs, reward, _, over, _ = env.step(action.numpy())
            states.append(state)
            actions.append(action)
            rewards.append(reward)
            if over:
                obs, _ = env.reset()
        taken, seen, paid = torch.stack(actions), torch.stack(states), torch.tensor(rewards, dtype=torch.float32)
        for _ in range(2 if ratio else 1):
            pi, value = make(policy(seen), deviation.exp()), critic(seen)[:, 0]
            logp, advantage = reduce(pi.log_prob(taken)), paid - value.detach()
            if ratio:
                now = torch.exp(logp - torch.stack(old))
                gain = torch.min(now * advantage, now.clamp(0.8, 1.2) * advantage).mean()
            else:
                gain = (logp * advantage).mean()
            loss = -gain
            if not apart:
                loss = loss - 0.01 * pi.entropy().sum(-1).mean() + 0.5 * (value - paid).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
