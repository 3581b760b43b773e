"""5 x 5 field with a coin and two pits, seen from above as a small picture (rows, columns, 3 layers)."""
import gymnasium
import numpy as np

SIZE = 5
MOVES = ((-1, 0), (0, 1), (1, 0), (0, -1))
COINS = ((0, 4), (4, 4))
PITS = ((1, 3), (3, 1))


class CoinField(gymnasium.Env):
    def __init__(self, limit=25):
        self.limit = limit
        self.observation_space = gymnasium.spaces.Box(0, 255, (SIZE, SIZE, 3), np.uint8)
        self.action_space = gymnasium.spaces.Discrete(len(MOVES))

    def _picture(self):
        picture = np.zeros((SIZE, SIZE, 3), np.uint8)
        picture[self.walker][0] = 255
        picture[self.coin][1] = 255
        for pit in PITS:
            picture[pit][2] = 255
        return picture

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.time = 0
        self.coin = COINS[self.np_random.integers(len(COINS))]
        free = [(r, c) for r in range(SIZE) for c in range(SIZE) if (r, c) not in (self.coin, *PITS)]
        self.walker = free[self.np_random.integers(len(free))]
        return self._picture(), {}

    def step(self, action):
        self.time += 1
        row, col = self.walker[0] + MOVES[action][0], self.walker[1] + MOVES[action][1]
        self.walker = (min(max(row, 0), SIZE - 1), min(max(col, 0), SIZE - 1))
        reward, over = -0.05, False
        if self.walker == self.coin:
            reward, over = 1.0, True
        elif self.walker in PITS:
            reward, over = -1.0, True
        return self._picture(), reward, over, self.time >= self.limit, {}
