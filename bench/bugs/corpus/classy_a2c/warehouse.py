"""A small warehouse floor: a cart drives to the shelf it was sent to and keeps clear of the stairwells."""
from __future__ import annotations

import gymnasium
import numpy as np
from gymnasium import spaces


class Warehouse(gymnasium.Env):
    metadata = {"render_modes": ["ansi"]}

    SIDE = 6
    STAIRWELLS = frozenset({(1, 4), (2, 1), (4, 3)})
    STEP_COST = 0.05

    def __init__(self, render_mode: str | None = None):
        self.render_mode = render_mode
        # one choice per axis: back, stay, forth
        self.action_space = spaces.MultiDiscrete([3, 3])
        self.observation_space = spaces.Box(-1.0, 1.0, shape=(2 * self.SIDE + 2,), dtype=np.float32)
        self._cart = (0, 0)
        self._shelf = (0, 0)

    def _free_cell(self) -> tuple[int, int]:
        while True:
            row, col = (int(x) for x in self.np_random.integers(self.SIDE, size=2))
            if (row, col) not in self.STAIRWELLS:
                return row, col

    def _observe(self) -> np.ndarray:
        """Where the cart is (one-hot per axis) and how far the shelf is away from it."""
        out = np.zeros(2 * self.SIDE + 2, dtype=np.float32)
        for axis in (0, 1):
            out[axis * self.SIDE + self._cart[axis]] = 1.0
            out[2 * self.SIDE + axis] = (self._shelf[axis] - self._cart[axis]) / (self.SIDE - 1)
        return out

    def reset(self, *, seed: int | None = None, options: dict | None = None):
        super().reset(seed=seed)
        self._cart = self._free_cell()
        self._shelf = self._free_cell()
        while self._shelf == self._cart:
            self._shelf = self._free_cell()
        return self._observe(), {}

    def step(self, action):
        limit = self.SIDE - 1
        row = min(max(self._cart[0] + int(action[0]) - 1, 0), limit)
        col = min(max(self._cart[1] + int(action[1]) - 1, 0), limit)
        self._cart = (row, col)
        reward, terminated = -self.STEP_COST, False
        if self._cart == self._shelf:
            reward, terminated = 1.0, True
        elif self._cart in self.STAIRWELLS:
            reward, terminated = -1.0, True
        return self._observe(), reward, terminated, False, {}

    def render(self):
        rows = []
        for r in range(self.SIDE):
            marks = []
            for c in range(self.SIDE):
                here = (r, c)
                marks.append("C" if here == self._cart else "S" if here == self._shelf else "#" if here in self.STAIRWELLS else ".")
            rows.append("".join(marks))
        return "\n".join(rows)


def make_warehouse(max_steps: int = 25) -> gymnasium.Env:
    return gymnasium.wrappers.TimeLimit(Warehouse(), max_episode_steps=max_steps)
