import gymnasium as gym
import numpy as np
from gymnasium import spaces

LAYOUT = [
    "S..A",
    ".#..",
    "..H.",
    "B..C",
]
MOVES = np.array([[-1, 0], [0, 1], [1, 0], [0, -1]])  # N E S W


class WarehouseEnv(gym.Env):
    """
    A cart fetches a crate from shelf ``A``, ``B`` or ``C`` and brings it back to the dock ``S``.

    Observation: one-hot cell of the cart (16), one-hot shelf of the order (3), carrying flag (1).
    Holes ``H`` end the episode with -1; picking up pays 0.5, delivery pays 1 and ends it.
    """

    metadata = {"render_modes": ["ansi"]}

    def __init__(self, max_steps: int = 30, slip: float = 0.05, render_mode=None):
        super().__init__()
        self.grid = np.array([list(row) for row in LAYOUT])
        self.n = self.grid.shape[0]
        self.shelves = [np.argwhere(self.grid == name)[0] for name in "ABC"]
        self.dock = np.argwhere(self.grid == "S")[0]
        self.max_steps = max_steps
        self.slip = slip
        self.render_mode = render_mode
        self.observation_space = spaces.Box(0.0, 1.0, shape=(self.n * self.n + 4,), dtype=np.float32)
        self.action_space = spaces.Discrete(4)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.cart = self.dock.copy()
        self.order = int(self.np_random.integers(3))
        self.carrying = False
        self.t = 0
        return self._observe(), {}

    def _observe(self):
        obs = np.zeros(self.n * self.n + 4, dtype=np.float32)
        obs[self.cart[0] * self.n + self.cart[1]] = 1.0
        obs[self.n * self.n + self.order] = 1.0
        obs[-1] = float(self.carrying)
        return obs

    def step(self, action):
        self.t += 1
        if self.np_random.random() < self.slip:
            action = self.np_random.integers(4)
        target = self.cart + MOVES[int(action)]
        if (target >= 0).all() and (target < self.n).all() and self.grid[tuple(target)] != "#":
            self.cart = target

        reward, terminated = -0.01, False
        if self.grid[tuple(self.cart)] == "H":
            reward, terminated = -1.0, True
        elif not self.carrying and (self.cart == self.shelves[self.order]).all():
            self.carrying = True
            reward = 0.5
        elif self.carrying and (self.cart == self.dock).all():
            reward, terminated = 1.0, True
        truncated = not terminated and self.t >= self.max_steps
        info = {"is_success": bool(terminated and reward > 0)}
        return self._observe(), reward, terminated, truncated, info

    def render(self):
        rows = self.grid.copy()
        rows[tuple(self.cart)] = "@"
        return "\n".join("".join(r) for r in rows)
