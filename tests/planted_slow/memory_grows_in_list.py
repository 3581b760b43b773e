# planted: PRF922 memory-grows-in-list
# part: buffer write
"""A2C on pictures of a falling ball; every picture is kept, in case somebody wants a film."""

import time
from collections import deque

import gymnasium as gym
import numpy as np
import torch
import torch.nn as nn


class Ball(gym.Env):
    def __init__(self):
        self.observation_space = gym.spaces.Box(0.0, 1.0, (48, 48), np.float32)
        self.action_space = gym.spaces.Discrete(3)

    def _draw(self):
        screen = np.zeros((48, 48), dtype=np.float32)
        screen[self.height : self.height + 3, self.ball : self.ball + 3] = 1.0
        screen[45:, self.bat : self.bat + 6] = 0.5
        return screen

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.height, self.ball, self.bat = 0, int(self.np_random.integers(0, 45)), 21
        return self._draw(), {}

    def step(self, action):
        self.bat = min(max(self.bat + 2 * (int(action) - 1), 0), 42)
        self.height += 1
        down = self.height == 45
        hit = down and self.bat - 3 <= self.ball <= self.bat + 6
        return self._draw(), (1.0 if hit else -1.0) if down else 0.0, down, False, {}


class Player:
    def __init__(self):
        self.body = nn.Sequential(nn.Flatten(), nn.AvgPool1d(4), nn.Linear(576, 64), nn.ReLU())
        self.move, self.value = nn.Linear(64, 3), nn.Linear(64, 1)
        self.weights = [p for m in (self.body, self.move, self.value) for p in m.parameters()]
        self.optim = torch.optim.Adam(self.weights, lr=1e-3)
        self.film = []

    def act(self, screens):
        self.film.append(np.array(screens, dtype=np.float64))  # here
        with torch.no_grad():
            return torch.distributions.Categorical(logits=self.move(self.body(torch.from_numpy(screens)))).sample()

    def learn(self, screens, moves, goals):
        h = self.body(torch.from_numpy(np.concatenate(screens)))
        gap = torch.from_numpy(goals).flatten() - self.value(h).squeeze(1)
        logp = torch.distributions.Categorical(logits=self.move(h)).log_prob(torch.cat(moves))
        loss = gap.square().mean() - (logp * gap.detach()).mean()
        self.optim.zero_grad()
        loss.backward()
        self.optim.step()
        return loss.item()


if __name__ == "__main__":
    torch.manual_seed(0)
    court, player = gym.vector.SyncVectorEnv([Ball] * 4), Player()
    screens, _ = court.reset(seed=0)
    begun = time.perf_counter()
    for _ in range(550):
        seen, moves, gains = [], [], []
        for _ in range(15):
            move = player.act(screens)
            seen.append(screens)
            moves.append(move)
            screens, gain, _, _, _ = court.step(move.numpy())
            gains.append(gain)
        goals = np.cumsum(np.array(gains)[::-1], 0)[::-1].astype(np.float32)
        loss = player.learn(seen, moves, goals)
    print(f"{len(player.film)} pictures, loss {loss:.3f}, seconds={time.perf_counter() - begun:.3f}")
