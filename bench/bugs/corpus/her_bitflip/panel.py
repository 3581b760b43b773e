from __future__ import annotations

import gymnasium as gym
import numpy as np


class LightPanel(gym.Env):
    """A row of lamps; every move toggles one. The wanted pattern is part of the observation."""

    def __init__(self, n_lamps: int = 6, horizon: int = 9):
        self.n_lamps, self.horizon = n_lamps, horizon
        pattern = gym.spaces.MultiBinary(n_lamps)
        self.observation_space = gym.spaces.Dict(
            {"observation": pattern, "achieved_goal": pattern, "desired_goal": pattern}
        )
        self.action_space = gym.spaces.Discrete(n_lamps)

    def compute_reward(self, achieved: np.ndarray, desired: np.ndarray) -> np.ndarray:
        """0 when the panel is right, else -1, and half a point less while a lamp burns that should not."""
        wrong = (achieved != desired).any(axis=-1)
        burning = (achieved > desired).any(axis=-1)
        return -(wrong.astype(np.float32) + 0.5 * burning.astype(np.float32))

    def _obs(self) -> dict:
        return {
            "observation": self.lamps.copy(),
            "achieved_goal": self.lamps.copy(),
            "desired_goal": self.goal.copy(),
        }

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.clock = 0
        self.lamps = self.np_random.integers(0, 2, self.n_lamps).astype(np.int8)
        self.goal = self.lamps
        while np.array_equal(self.goal, self.lamps):
            self.goal = self.np_random.integers(0, 2, self.n_lamps).astype(np.int8)
        return self._obs(), {}

    def step(self, action: int):
        self.clock += 1
        self.lamps[action] ^= 1
        reward = float(self.compute_reward(self.lamps, self.goal))
        solved = reward == 0.0
        return self._obs(), reward, solved, (not solved and self.clock >= self.horizon), {"is_success": solved}
