from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from callbacks import Callback
from policy import ActorCritic
from storage import Batch, RolloutStorage


@dataclass(frozen=True)
class A2CConfig:
    num_envs: int = 32
    rollout_length: int = 8
    updates: int = 200
    gamma: float = 0.97
    lam: float = 0.9
    learning_rate: float = 6e-3
    final_lr_fraction: float = 0.1
    value_weight: float = 0.5
    entropy_weight: float = 0.01
    max_grad_norm: float = 1.0
    seed: int = 0


class A2CTrainer:
    """Synchronous advantage actor-critic on a vector environment with next-step autoreset."""

    def __init__(self, envs, model: ActorCritic, config: A2CConfig, callback: Callback):
        self.envs, self.model, self.cfg = envs, model, config
        self.callback = callback
        self.callback.bind(self)
        self.storage = RolloutStorage(config.num_envs, config.gamma, config.lam)
        self.optimizer = torch.optim.RMSprop(model.parameters(), lr=config.learning_rate, alpha=0.99, eps=1e-5)
        self.gradient_steps = 0
        obs, _ = envs.reset(seed=config.seed)
        self._obs = torch.as_tensor(obs)
        self._ended = np.zeros(config.num_envs, dtype=bool)

    def fit(self) -> None:
        while self.gradient_steps < self.cfg.updates:
            batch = self.collect()
            stats = self.update(batch)
            self.callback.on_update(stats)
        self.callback.on_training_end()

    @torch.no_grad()
    def collect(self) -> Batch:
        self.storage.clear()
        for _ in range(self.cfg.rollout_length):
            dist, value = self.model(self._obs)
            action = dist.sample()
            obs, reward, terminated, truncated, _ = self.envs.step(action.numpy())
            # the step that follows an episode's end only resets: the action had no say in it
            self.storage.add(self._obs, action, value, reward, terminated, truncated, valid=~self._ended)
            self._obs = torch.as_tensor(obs.copy())
            self._ended = terminated | truncated
        return self.storage.as_batch(last_value=self.model.value(self._obs))

    def _set_learning_rate(self) -> None:
        progress = self.gradient_steps / self.cfg.updates
        fraction = 1.0 - progress * (1.0 - self.cfg.final_lr_fraction)
        for group in self.optimizer.param_groups:
            group["lr"] = self.cfg.learning_rate * fraction

    def update(self, batch: Batch) -> dict:
        cfg = self.cfg
        self._set_learning_rate()

        def average(x):
            return (x * batch.valid).sum() / batch.valid.sum()

        dist, values = self.model(batch.obs)
        log_prob = dist.log_prob(batch.actions)
        policy_loss = -average(log_prob * batch.advantages)
        value_loss = average(F.smooth_l1_loss(values, batch.returns, reduction="none"))
        entropy = average(dist.entropy())
        loss = policy_loss + cfg.value_weight * value_loss - cfg.entropy_weight * entropy

        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        grad_norm = nn.utils.clip_grad_norm_(self.model.parameters(), cfg.max_grad_norm)
        self.optimizer.step()
        self.gradient_steps += 1
        return {
            "policy": policy_loss.item(),
            "value": value_loss.item(),
            "entropy": entropy.item(),
            "grad": grad_norm.item(),
        }
