"""Keep the ball up. Three balls, one paddle; a ball rolls along the top until it is served with FIRE.

Time is only called when a ball comes down to the paddle (or when nobody serves for ever).
"""
import gymnasium as gym
import numpy as np
import torch

NOOP, FIRE, LEFT, RIGHT = range(4)


class BallGame(gym.Env):
    metadata = {"render_modes": []}
    W, H, LIVES, FRAMES = 7, 6, 3, 160

    def __init__(self):
        # ball column, ball row, paddle, ball in play
        self.observation_space = gym.spaces.Box(0.0, 1.0, (4,), np.float32)
        self.action_space = gym.spaces.Discrete(4)

    def reset(self, seed=None, options=None):
        super().reset(seed=seed)
        self.lives, self.frame, self.paddle = self.LIVES, 0, 2
        self._new_ball()
        return self._obs(), self._info()

    def _new_ball(self):
        self.bx = int(self.np_random.integers(self.W))
        self.by, self.dx, self.dy, self.inPlay = 0, int(self.np_random.choice([-1, 1])), 1, False

    def _obs(self):
        return np.array([self.bx / (self.W - 1), self.by / (self.H - 1), self.paddle / (self.W - 2), self.inPlay], np.float32)

    def _info(self):
        legal = np.array([True, not self.inPlay, self.paddle > 0, self.paddle < self.W - 2])
        return {"lives": self.lives, "legal": legal}

    def step(self, action):
        self.frame += 1
        reward, timeUp = 0.0, self.frame >= 2 * self.FRAMES
        if action == LEFT:
            self.paddle = max(self.paddle - 1, 0)
        elif action == RIGHT:
            self.paddle = min(self.paddle + 1, self.W - 2)
        if self.inPlay:
            if not 0 <= self.bx + self.dx < self.W:
                self.dx = -self.dx
            self.bx += self.dx
            self.by += self.dy
            if self.by == 0:
                self.dy = 1
            elif self.by == self.H - 1:
                timeUp = self.frame >= self.FRAMES
                if self.paddle <= self.bx <= self.paddle + 1:
                    reward, self.dy = 1.0, -1
                else:
                    self.lives -= 1
                    self._new_ball()
        elif action == FIRE:
            self.inPlay = True
        else:
            self.bx = (self.bx + 1) % self.W
        return self._obs(), reward, self.lives == 0, timeUp, self._info()


class NoopStart(gym.Wrapper):
    """Waits up to `most` frames at the start of a game."""

    def __init__(self, env, most=4):
        super().__init__(env)
        self.most = most

    def reset(self, **kw):
        obs, info = self.env.reset(**kw)
        for _ in range(self.unwrapped.np_random.integers(self.most + 1)):
            obs, _, _, _, info = self.env.step(NOOP)
        return obs, info


class Score(gym.Wrapper):
    """info["score"] at the end of a game: the sum of its rewards."""

    def reset(self, **kw):
        self.sum = 0.0
        return self.env.reset(**kw)

    def step(self, action):
        obs, r, term, trunc, info = self.env.step(action)
        self.sum += r
        if term or trunc:
            info["score"] = self.sum
        return obs, r, term, trunc, info


class Skip(gym.Wrapper):
    """Repeats the action and adds up the rewards."""

    def __init__(self, env, n=2):
        super().__init__(env)
        self.n = n

    def step(self, action):
        total = 0.0
        for _ in range(self.n):
            obs, r, term, trunc, info = self.env.step(action)
            total += r
            if term or trunc:
                break
        return obs, total, term, trunc, info


class LifeIsEpisode(gym.Wrapper):
    """A lost ball ends the episode for the learner, but the game is only started anew when it is over."""

    def __init__(self, env):
        super().__init__(env)
        self.gameOver, self.lives = True, 0

    def reset(self, **kw):
        if self.gameOver:
            obs, info = self.env.reset(**kw)
        else:
            obs, _, _, _, info = self.env.step(NOOP)
        self.gameOver, self.lives = False, info["lives"]
        return obs, info

    def step(self, action):
        obs, r, term, trunc, info = self.env.step(action)
        self.gameOver = term or trunc
        if info["lives"] < self.lives:
            term = True
        self.lives = info["lives"]
        return obs, r, term, trunc, info


class FireStart(gym.Wrapper):
    """Serves the ball."""

    def reset(self, **kw):
        self.env.reset(**kw)
        obs, _, _, _, info = self.env.step(FIRE)
        return obs, info


class Stack(gym.Wrapper):
    """The last k observations, oldest first, as one flat array."""

    def __init__(self, env, k=3):
        super().__init__(env)
        self.history = torch.zeros(k, *env.observation_space.shape)
        self.observation_space = gym.spaces.Box(0.0, 1.0, (self.history.numel(),), np.float32)

    def reset(self, **kw):
        obs, info = self.env.reset(**kw)
        self.history[:] = torch.from_numpy(obs)
        return self.history.flatten().numpy().copy(), info

    def step(self, action):
        obs, r, term, trunc, info = self.env.step(action)
        self.history[:-1] = self.history[1:].clone()
        self.history[-1] = torch.from_numpy(obs)
        return self.history.flatten().numpy().copy(), r, term, trunc, info


def makeGame():
    game = Score(NoopStart(BallGame()))
    return Stack(FireStart(LifeIsEpisode(Skip(game))))
