"""A thermostat whose heater stays as it was at the start of the episode."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
from gymnasium import spaces

EXPECT = "ENV031"


class Room(gym.Env):
    """Keep a room at 21 °C while the weather changes; the heater is off, half on or on."""

    def __init__(self):
        self.observation_space = spaces.Box(-4.0, 4.0, (3,), np.float32)
        self.action_space = spaces.Discrete(3)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.inside = self.np_random.uniform(15.0, 25.0)
        self.outside = self.np_random.uniform(-5.0, 15.0)
        self.heating = 0
        self.minutes = 0
        return self._obs(), {}

    def _obs(self):
        values = [(self.inside - 21) / 10, (self.outside - 21) / 20, self.minutes / 48]
        return np.clip(values, -4, 4).astype(np.float32)

    def _switch(self, action):
        self.heating = int(action)

    def step(self, action):
        self._switch(action)
        self.outside += self.np_random.normal(0, 0.2)
        self.inside += 0.1 * (self.outside - self.inside) + 2.0 * self.heating
        self.minutes += 1
        reward = -abs(self.inside - 21) / 10
        return self._obs(), float(reward), bool(abs(self.inside - 21) > 25), self.minutes >= 48, {}


class Unplugged(Room):
    def _switch(self, action):
        self.heating = self.heating


def make():
    return Unplugged()


def sound():
    return Room()
