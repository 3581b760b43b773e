"""A ball that is to be kept near the middle: it ends when it is lost, and a clock ends it too."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np


class Ball(gym.Env[Any, Any]):
    """The reward differs from step to step, so that every row tells something of γ."""

    def __init__(self, discrete: bool = False, limit: int = 40, dim: int = 2) -> None:
        self.dim, self.limit, self.discrete = dim, limit, discrete
        self.observation_space = gym.spaces.Box(-np.inf, np.inf, (2 * dim,), np.float32)
        self.action_space: Any = gym.spaces.Box(-1.0, 1.0, (dim,), np.float32)
        if discrete:
            self.action_space = gym.spaces.Discrete(2 * dim + 1)

    def _seen(self) -> Any:
        return np.concatenate([self.place, self.speed]).astype(np.float32)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.place = self.np_random.uniform(-1.0, 1.0, self.dim)
        self.speed = self.np_random.uniform(-0.3, 0.3, self.dim)
        self.clock = 0
        return self._seen(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        push = np.zeros(self.dim)
        if not self.discrete:
            push = np.clip(np.asarray(action, dtype=np.float64), -1.0, 1.0)
        elif action:
            push[(int(action) - 1) // 2] = 1.0 if action % 2 else -1.0
        self.speed = 0.9 * self.speed + 0.15 * push + self.np_random.normal(0.0, 0.02, self.dim)
        self.place = self.place + 0.3 * self.speed
        self.clock += 1
        lost = bool(np.abs(self.place).max() > 1.5)
        reward = 1.0 - float((self.place**2).sum()) - 0.05 * float((push**2).sum()) - (5.0 if lost else 0.0)
        return self._seen(), reward, lost, self.clock >= self.limit and not lost, {}
