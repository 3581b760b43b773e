"""Catch: a ball falls down a small screen, a paddle below must be under it. Pixels only; one reward, at the end.

rldebug train ppo --env catch:Catch-v0        (in this folder)
"""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces

SIZE = 12  # pixels; the paddle is 3 wide


class Catch(gym.Env[Any, Any]):
    """Actions: left, stay, right. +1 for a ball caught, −1 for one missed."""

    observation_space = spaces.Box(0, 255, (1, SIZE, SIZE), np.uint8)
    action_space = spaces.Discrete(3)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.ball = [0, int(self.np_random.integers(SIZE))]
        self.paddle = int(self.np_random.integers(1, SIZE - 1))
        return self._look(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.paddle = min(max(self.paddle + int(action) - 1, 1), SIZE - 2)
        self.ball[0] += 1
        landed = self.ball[0] == SIZE - 1
        reward = 0.0 if not landed else 1.0 if abs(self.ball[1] - self.paddle) <= 1 else -1.0
        return self._look(), reward, landed, False, {}

    def _look(self) -> Any:
        screen = np.zeros((1, SIZE, SIZE), np.uint8)
        screen[0, SIZE - 1, self.paddle - 1 : self.paddle + 2] = 128
        screen[0, self.ball[0], self.ball[1]] = 255
        return screen


gym.register("Catch-v0", entry_point=Catch)
