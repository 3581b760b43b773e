"""Planar drone in a lift shaft. The drone starts somewhere in the shaft and has to hover at the landing light."""
import gymnasium as gym
import numpy as np
from gymnasium import spaces


class ShaftDrone(gym.Env):
    """State: offset from the light (x, z) and velocity (vx, vz), all scaled to [-1, 1].

    Action: collective thrust in [0, 2] (1.0 carries the weight) and lateral thrust in [-0.5, 0.5].
    Touching a wall ends the flight. There is no goal state: the drone hovers until time is up.
    """

    metadata = {"render_modes": []}
    HALF_WIDTH = 1.0
    HALF_HEIGHT = 1.5
    V_MAX = 1.5
    DT = 0.2

    def __init__(self):
        self.low = np.array([-self.HALF_WIDTH, -self.HALF_HEIGHT, -self.V_MAX, -self.V_MAX], dtype=np.float32)
        self.high = -self.low
        self.observation_space = spaces.Box(-1.0, 1.0, shape=(4,), dtype=np.float32)
        self.action_space = spaces.Box(
            low=np.array([0.0, -0.5], dtype=np.float32),
            high=np.array([2.0, 0.5], dtype=np.float32),
        )
        self.state = np.zeros(4, dtype=np.float32)

    def _scaled(self):
        span = self.high - self.low
        scaled = (self.state - self.low) * 2.0 / span - 1.0
        return np.clip(scaled, -1.0, 1.0).astype(np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        x = self.np_random.uniform(-0.8, 0.8)
        z = self.np_random.uniform(-1.1, 1.1)
        self.state = np.array([x, z, 0.0, 0.0], dtype=np.float32)
        return self._scaled(), {}

    def step(self, action):
        thrust, lateral = np.clip(action, self.action_space.low, self.action_space.high)
        x, z, vx, vz = self.state
        vx = np.clip(0.8 * vx + self.DT * 3.0 * lateral, -self.V_MAX, self.V_MAX)
        vz = np.clip(0.8 * vz + self.DT * 1.5 * (thrust - 1.0), -self.V_MAX, self.V_MAX)
        x, z = x + self.DT * vx, z + self.DT * vz
        self.state = np.array([x, z, vx, vz], dtype=np.float32)
        crashed = bool(abs(x) >= self.HALF_WIDTH or abs(z) >= self.HALF_HEIGHT)
        distance = float(np.hypot(x, z))
        reward = 1.0 - min(distance, 1.0)
        if crashed:
            reward = -5.0
        return self._scaled(), reward, crashed, False, {"distance": distance}


gym.register(id="ShaftDrone-v0", entry_point=ShaftDrone, max_episode_steps=40)
