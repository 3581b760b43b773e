"""Noughts and crosses against an opponent that moves at random, as a Gymnasium environment."""
from __future__ import annotations

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Dict, Discrete, MultiBinary

ROWS = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]


class NoughtsEnv(gymnasium.Env):
    """observation["board"]: 18 numbers, my stones then theirs. observation["legal"]: 1 for every empty square."""

    metadata = {"render_modes": []}
    ILLEGAL_PENALTY = -1.0

    def __init__(self):
        self.observation_space = Dict({"board": Box(0.0, 1.0, (18,), np.float32), "legal": MultiBinary(9)})
        self.action_space = Discrete(9)
        self.board = np.zeros(9, dtype=np.int8)

    def _observe(self):
        planes = np.concatenate([self.board == 1, self.board == -1]).astype(np.float32)
        return {"board": planes, "legal": (self.board == 0).astype(np.int8)}

    def _won(self, who):
        return any(self.board[a] == self.board[b] == self.board[c] == who for a, b, c in ROWS)

    def _opponent(self):
        free = np.flatnonzero(self.board == 0)
        self.board[self.np_random.choice(free)] = -1

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.board[:] = 0
        if self.np_random.random() < 0.5:
            self._opponent()
        return self._observe(), {}

    def step(self, action):
        if self.board[action] != 0:
            return self._observe(), self.ILLEGAL_PENALTY, True, False, {"outcome": "illegal"}
        self.board[action] = 1
        if self._won(1):
            return self._observe(), 1.0, True, False, {"outcome": "won"}
        if not (self.board == 0).any():
            return self._observe(), 0.0, True, False, {"outcome": "drawn"}
        self._opponent()
        if self._won(-1):
            return self._observe(), -1.0, True, False, {"outcome": "lost"}
        if not (self.board == 0).any():
            return self._observe(), 0.0, True, False, {"outcome": "drawn"}
        return self._observe(), 0.0, False, False, {}
