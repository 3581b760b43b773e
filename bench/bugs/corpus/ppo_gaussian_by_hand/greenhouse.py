"""A greenhouse with a heater and a vent. Keep it at 295 K and 800 ppm."""
import gymnasium as gym
import numpy as np

T_GOAL, C_GOAL = 295.0, 800.0
T_FROST, T_SCORCH = 285.0, 305.0


class Greenhouse(gym.Env):
    """obs = [inside temperature (K), outside temperature (K), CO2 (ppm), altitude of the site (m), heat alarm (0/1),
           power of the radiator (W)]
    act = [heater, doser], both in [-1, 1]
    """

    def __init__(self, horizon=40):
        self.horizon = horizon
        self.observation_space = gym.spaces.Box(-5000.0, 5000.0, (6,), np.float64)
        self.action_space = gym.spaces.Box(-1.0, 1.0, (2,), np.float32)

    def _obs(self):
        alarm = 1.0 if self.temp > T_GOAL + 4.5 else 0.0
        return np.array([self.temp, self.outside, self.co2, 340.0, alarm, self.power])

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.t = 0
        self.outside = self.np_random.uniform(282.0, 292.0)
        self.temp = self.np_random.uniform(290.0, 299.0)
        self.co2 = self.np_random.uniform(500.0, 1100.0)
        self.power = self.np_random.uniform(-300.0, 300.0)
        return self._obs(), {}

    def step(self, action):
        assert self.action_space.contains(action), f"action {action} outside of {self.action_space}"
        heat, dose = float(action[0]), float(action[1])
        self.t += 1
        self.power = 0.8 * self.power + 250.0 * heat
        self.temp += 0.10 * (self.outside - self.temp) + 0.002 * self.power + self.np_random.normal(0.0, 0.1)
        self.co2 += 0.10 * (600.0 - self.co2) + 80.0 * dose
        self.co2 = max(self.co2, 0.0)
        ruined = self.temp < T_FROST or self.temp > T_SCORCH
        comfort = 1.0 - min(abs(self.temp - T_GOAL) / 4.0, 1.0)
        growth = 1.0 - min(abs(self.co2 - C_GOAL) / 400.0, 1.0)
        reward = 0.5 * comfort + 0.5 * growth - (5.0 if ruined else 0.0)
        return self._obs(), reward, ruined, self.t >= self.horizon, {}
