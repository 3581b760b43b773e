from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor


@dataclass
class Transition:
    obs: Tensor
    action: Tensor
    value: Tensor
    reward: Tensor
    terminated: Tensor
    truncated: Tensor
    valid: Tensor


@dataclass
class Batch:
    """Everything has the shape (steps, envs, ...)."""

    obs: Tensor
    actions: Tensor
    advantages: Tensor
    returns: Tensor
    valid: Tensor


def lambda_returns(rewards, values, last_value, terminated, truncated, gamma, lam):
    """TD(lambda) targets.

    The vector environment resets one step after an episode's end, so the value of the observation that
    step t led to is values[t + 1] in every case, and a truncated step can bootstrap from it.
    """
    returns = torch.zeros_like(rewards)
    future = next_value = last_value
    for t in reversed(range(len(rewards))):
        trace = lam * (1.0 - truncated[t])
        bootstrap = (1.0 - trace) * next_value + trace * future
        returns[t] = rewards[t] + gamma * (1.0 - terminated[t]) * bootstrap
        future, next_value = returns[t], values[t]
    return returns


class RolloutStorage:
    def __init__(self, num_envs: int, gamma: float, lam: float):
        self.gamma, self.lam = gamma, lam
        self.transitions: list[Transition] = []
        self.running_return = np.zeros(num_envs)
        self.finished_returns: list[float] = []

    def clear(self) -> None:
        self.transitions = []

    def add(self, obs, action, value, reward, terminated, truncated, valid) -> None:
        self.transitions.append(
            Transition(
                obs=obs,
                action=action,
                value=value,
                reward=torch.as_tensor(reward, dtype=torch.float32),
                terminated=torch.as_tensor(terminated, dtype=torch.float32),
                truncated=torch.as_tensor(truncated, dtype=torch.float32),
                valid=torch.as_tensor(valid, dtype=torch.float32),
            )
        )
        self.running_return += reward * valid
        for i in np.flatnonzero((terminated | truncated) & valid):
            self.finished_returns.append(float(self.running_return[i]))
            self.running_return[i] = 0.0

    def as_batch(self, last_value: Tensor) -> Batch:
        column = {name: torch.stack([getattr(tr, name) for tr in self.transitions]) for name in Transition.__annotations__}
        returns = lambda_returns(
            column["reward"],
            column["value"],
            last_value,
            column["terminated"],
            column["truncated"],
            self.gamma,
            self.lam,
        )
        return Batch(
            obs=column["obs"],
            actions=column["action"],
            advantages=returns - column["value"],
            returns=returns,
            valid=column["valid"],
        )
