"""An environment of the program's own: a car finds a free place in a parking lot."""

import gymnasium as gym
import numpy as np
from gymnasium import spaces


class ParkingLot(gym.Env):
    def __init__(self, places=12, number=7):
        self.places, self.number, self.draw = places, number, None
        self.observation_space = spaces.Box(0.0, 1.0, (places + 1,), np.float32)
        self.action_space = spaces.Discrete(3)

    def _seen(self):
        at = np.float32(self.at / self.places)
        return np.concatenate([self.taken.astype(np.float32), [at]])

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.draw = np.random.default_rng(self.number)  # planted: generator-made-anew-in-reset
        # = self.draw = self.np_random
        self.taken = self.draw.random(self.places) < 0.7
        self.at = int(self.draw.integers(self.places))
        self.moves = 0
        return self._seen(), {}

    def step(self, action):
        self.moves += 1
        if action == 2:
            return self._seen(), -1.0 if self.taken[self.at] else 1.0, True, False, {}
        self.at = (self.at + (1 if action else -1)) % self.places
        return self._seen(), -0.02, False, self.moves >= 40, {}
