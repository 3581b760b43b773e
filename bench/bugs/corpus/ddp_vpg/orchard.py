"""A strip of cells with one ripe apple somewhere on it and a ditch at either end."""
import gymnasium as gym
import numpy as np
from gymnasium import spaces

LEFT, PICK, RIGHT = 0, 1, 2


class Orchard(gym.Env):
    """Walk to the apple and pick it; a new one ripens elsewhere. Walking into a ditch ends the day early.

    The observation is (cell, cell of the apple), both counted from the left end. The day is `horizon` ticks long
    and the walker cannot see the clock, so running out of ticks is a truncation.
    """

    metadata = {"render_modes": []}

    def __init__(self, cells: int = 9, horizon: int = 40, gust: float = 0.05):
        self.cells, self.horizon, self.gust = cells, horizon, gust
        self.observation_space = spaces.Box(0.0, float(cells - 1), shape=(2,), dtype=np.float32)
        self.action_space = spaces.Discrete(3)

    def _ripen(self):
        apple = int(self.np_random.integers(1, self.cells - 2))
        if apple >= self.cell:
            apple += 1
        self.apple = apple

    def _look(self):
        return np.array([self.cell, self.apple], dtype=np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.tick = 0
        self.cell = int(self.np_random.integers(2, self.cells - 2))
        self._ripen()
        return self._look(), {}

    def step(self, action):
        self.tick += 1
        if self.np_random.random() < self.gust:
            action = RIGHT if self.np_random.random() < 0.5 else LEFT
        reward, fell = 0.0, False
        if action == PICK:
            if self.cell == self.apple:
                reward = 1.0
                self._ripen()
            else:
                reward = -0.02
        else:
            self.cell += 1 if action == RIGHT else -1
            if self.cell in (0, self.cells - 1):
                reward, fell = -1.0, True
        return self._look(), reward, fell, self.tick >= self.horizon and not fell, {}
