"""A ball on a see-saw rail: it accelerates away from the middle unless it is pushed back in time."""
import gymnasium as gym
import numpy as np
from gymnasium import spaces


class RailEnv(gym.Env):
    """Observation: (position, velocity, last push). Actions: push left, rest, push right."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": 10}

    def __init__(self, tilt: float = 2.0, push: float = 1.5, dt: float = 0.1, render_mode=None):
        self.tilt, self.push, self.dt = tilt, push, dt
        high = np.array([1.5, 4.0, 1.0], dtype=np.float32)
        self.observation_space = spaces.Box(-high, high, dtype=np.float32)
        self.action_space = spaces.Discrete(3)
        self.render_mode = render_mode
        self.x = self.v = self.last = 0.0

    def _obs(self):
        return np.array([self.x, self.v, self.last], dtype=np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.x = float(self.np_random.uniform(-0.3, 0.3))
        self.v = float(self.np_random.uniform(-0.3, 0.3))
        self.last = 0.0
        return self._obs(), {}

    def step(self, action):
        self.last = float(int(action) - 1)
        gust = 0.3 * float(self.np_random.standard_normal())
        self.v += self.dt * (self.tilt * self.x + self.push * self.last + gust)
        self.v = float(np.clip(self.v, -4.0, 4.0))
        self.x += self.dt * self.v
        terminated = abs(self.x) > 1.0
        reward = 1.0 - 0.2 * min(abs(self.x), 1.0)
        return self._obs(), reward, terminated, False, {}

    def render(self):
        picture = np.full((20, 101, 3), 255, dtype=np.uint8)
        column = int(np.clip(round(50 + 50 * self.x), 0, 100))
        picture[8:12, max(column - 2, 0):column + 3] = 0
        return picture


gym.register(id="Rail-v0", entry_point="rail:RailEnv", max_episode_steps=60)
