import gymnasium as gym
import numpy as np


class KeyDoorCorridor(gym.Env):
    """A corridor with the key at the left end and the locked door at the right end.

    The agent starts somewhere in the middle, walks left to pick up the key (walking onto it is enough),
    then right to the door, and has to use the action OPEN there.  OPEN anywhere else is a wasted move.
    """

    metadata = {"render_modes": ["ansi"]}
    LEFT, RIGHT, OPEN = 0, 1, 2

    def __init__(self, length: int = 7, max_moves: int = 40):
        super().__init__()
        self.length = length
        self.max_moves = max_moves
        self.observation_space = gym.spaces.Box(0.0, 1.0, shape=(length + 2,), dtype=np.float32)
        self.action_space = gym.spaces.Discrete(3)
        self._cell = 0
        self._has_key = False
        self._moves = 0

    def _encode(self) -> np.ndarray:
        view = np.zeros(self.length + 2, dtype=np.float32)
        view[self._cell] = 1.0
        view[self.length] = float(self._has_key)
        view[self.length + 1] = 1.0 - float(self._has_key)
        return view

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self._cell = int(self.np_random.integers(2, self.length - 1))
        self._has_key = False
        self._moves = 0
        return self._encode(), {}

    def step(self, action):
        reward, opened = -0.02, False
        if action == self.LEFT:
            self._cell = max(0, self._cell - 1)
        elif action == self.RIGHT:
            self._cell = min(self.length - 1, self._cell + 1)
        elif self._cell == self.length - 1 and self._has_key:
            reward, opened = 1.0, True
        if self._cell == 0 and not self._has_key:
            self._has_key = True
            reward += 0.2
        self._moves += 1
        truncated = not opened and self._moves >= self.max_moves
        return self._encode(), reward, opened, truncated, {}

    def render(self):
        row = ["."] * self.length
        row[0] = "." if self._has_key else "k"
        row[-1] = "D"
        row[self._cell] = "@"
        return "".join(row)
