"""Station keeping: a buoy with a small thruster has to stay over its anchor in the wind."""
from typing import Any, Optional

import gymnasium as gym
import numpy as np


class BuoyEnv(gym.Env):
    """Observation: position [cm], velocity [m/s], wind [m/s^2]. Action: thrust in [-1, 1]."""

    metadata = {"render_modes": []}
    RANGE = 4.0          # metres; beyond that the buoy is lost
    DT = 0.05

    def __init__(self, substeps: int = 4) -> None:
        self.substeps = substeps
        high = np.array([600.0, 10.0, 3.0], dtype=np.float32)
        self.observation_space = gym.spaces.Box(-high, high, dtype=np.float32)
        self.action_space = gym.spaces.Box(-1.0, 1.0, (1,), dtype=np.float32)
        self.x = self.v = self.wind = 0.0

    def reset(self, *, seed: Optional[int] = None, options: Optional[dict] = None) -> tuple[np.ndarray, dict[str, Any]]:
        super().reset(seed=seed)
        self.x = float(self.np_random.uniform(-2.0, 2.0))
        self.v = 0.0
        self.wind = float(self.np_random.uniform(-0.6, 0.6))
        return self._observation(), {}

    def _observation(self) -> np.ndarray:
        return np.array([100.0 * self.x, self.v, self.wind], dtype=np.float32)

    def _advance(self, thrust: float, n: int) -> None:
        for _ in range(n):
            self.v += self.DT * (3.0 * thrust + self.wind - 0.5 * self.v)
            self.x += self.DT * self.v

    def step(self, action: np.ndarray):
        thrust = float(np.clip(action[0], -1.0, 1.0))
        self.wind = float(np.clip(self.wind + 0.05 * self.np_random.normal(), -1.0, 1.0))
        self._advance(thrust, self.substeps)
        lost = abs(self.x) > self.RANGE
        reward = -100.0 if lost else 20.0 * (1.0 - abs(self.x)) - 2.0 * thrust ** 2
        return self._observation(), reward, lost, False, {}
