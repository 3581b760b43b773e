"""Depth keeping for a small underwater buoy."""
from typing import Optional

import gymnasium
import numpy as np


class BuoyEnv(gymnasium.Env):
    """
    The pump takes water in or out (action in [-2, 2]) and so accelerates the buoy; drag slows it; a current
    pushes it up or down for the whole episode. The buoy is to stay at a set depth drawn at every reset.

    obs: depth error in metres, vertical speed in metres a minute, set depth, current. The scales differ by
    orders of magnitude on purpose, as the sensors report them.
    """

    metadata = {"render_modes": []}
    horizon = 40
    dt = 0.25

    def __init__(self, current_strength: float = 0.4):
        self.current_strength = current_strength
        big = np.array([60.0, 600.0, 60.0, 2.0], dtype=np.float32)
        self.observation_space = gymnasium.spaces.Box(-big, big, dtype=np.float32)
        self.action_space = gymnasium.spaces.Box(-2.0, 2.0, shape=(1,), dtype=np.float32)

    def _get_obs(self) -> np.ndarray:
        return np.array(
            [10.0 * (self.depth - self.goal), 60.0 * self.speed, 10.0 * self.goal, self.current], dtype=np.float32
        )

    def reset(self, *, seed: Optional[int] = None, options: Optional[dict] = None):
        super().reset(seed=seed)
        self.goal = self.np_random.uniform(1.0, 3.0)
        self.depth = self.goal + self.np_random.uniform(-1.5, 1.5)
        self.speed = self.np_random.uniform(-0.3, 0.3)
        self.current = self.current_strength * self.np_random.uniform(-1.0, 1.0)
        self.clock = 0
        return self._get_obs(), {}

    def step(self, action: np.ndarray):
        pump = float(np.clip(action[0], -2.0, 2.0))
        self.speed += self.dt * (pump + self.current - 0.3 * self.speed)
        self.depth += self.dt * self.speed
        self.clock += 1

        error = abs(self.depth - self.goal)
        reward = 10.0 * (1.0 - error) - 0.5 * pump**2
        crushed = bool(error > 3.0)
        if crushed:
            reward -= 50.0
        return self._get_obs(), reward, crushed, self.clock >= self.horizon and not crushed, {}
