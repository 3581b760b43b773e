import gymnasium as gym
import numpy as np


class Catcher(gym.Env):
    """Balls fall one after another, drifting sideways and bouncing off the walls; a bat of one cell catches them.

    One frame shows where things are, not where they go: 5 cells one-hot for the bat, 5 for the ball, and the height.
    """

    WIDTH, HEIGHT, ROUNDS, LIVES = 5, 5, 8, 2

    def __init__(self):
        self.observation_space = gym.spaces.Box(0.0, 1.0, (2 * self.WIDTH + 1,), np.float32)
        self.action_space = gym.spaces.Discrete(3)
        self.canvas = np.zeros(self.observation_space.shape, np.float32)

    def _new_ball(self):
        self.col = int(self.np_random.integers(self.WIDTH))
        self.drift = int(self.np_random.integers(-1, 2))
        self.height = self.HEIGHT

    def _paint(self):
        self.canvas[:] = 0.0
        self.canvas[self.bat] = 1.0
        self.canvas[self.WIDTH + self.col] = 1.0
        self.canvas[-1] = self.height / self.HEIGHT
        return self.canvas.copy()

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.bat = self.WIDTH // 2
        self.lives = self.LIVES
        self.balls = 0
        self._new_ball()
        return self._paint(), {}

    def step(self, action):
        self.bat = min(max(self.bat + int(action) - 1, 0), self.WIDTH - 1)
        if not 0 <= self.col + self.drift < self.WIDTH:
            self.drift = -self.drift
        self.col += self.drift
        self.height -= 1
        reward = 0.0
        if self.height == 0:
            caught = self.col == self.bat
            reward = 1.0 if caught else -1.0
            self.lives -= not caught
            self.balls += 1
            self._new_ball()
        dead = self.lives == 0
        return self._paint(), reward, dead, not dead and self.balls == self.ROUNDS, {}

    def close(self):
        self.canvas = None
