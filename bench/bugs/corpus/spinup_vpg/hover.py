import gymnasium as gym
import numpy as np


class HoverEnv(gym.Env):
    """
    A balloon in a vertical shaft: burn, idle or vent to stay at the wanted height.

    Observation: (height above the wanted one, climb rate, draught of this shaft).
    Each step costs in proportion to the distance from the wanted height, a burn
    or a vent a little gas. Touching floor or ceiling ends the flight.
    """

    DT = 0.2
    SHAFT = 3.0
    CRASH_COST = 2.0

    def __init__(self):
        high = np.array([4.0, 10.0, 1.0], dtype=np.float32)
        self.observation_space = gym.spaces.Box(-high, high, dtype=np.float32)
        self.action_space = gym.spaces.Discrete(3)
        self.state = None

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        rng = self.np_random
        self.state = [rng.uniform(-1.5, 1.5), rng.uniform(-0.5, 0.5), rng.uniform(-0.4, 0.4)]
        return np.array(self.state, dtype=np.float32), {}

    def step(self, action):
        h, v, draught = self.state
        thrust = float(action) - 1.0
        v = v + self.DT * (thrust + draught)
        h = h + self.DT * v
        self.state = [h, v, draught]
        reward = -0.05 * abs(h) - 0.002 * abs(thrust)
        crashed = abs(h) > self.SHAFT
        if crashed:
            reward -= self.CRASH_COST
        return np.array(self.state, dtype=np.float32), reward, crashed, False, {}


gym.register(id="Hover-v0", entry_point=HoverEnv, max_episode_steps=50)
