"""Q-learning in a game of three lives; to the learner each lost life is an end."""

from __future__ import annotations

import random
from collections import deque
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from torch import nn

FAULTS = {"game-begins-anew": "ENV311", "first-never-drawn": "EXP280"}
GAMMA, STEPS = 0.9, 1500


class Dodge(gym.Env[Any, Any]):
    """Something comes down a lane; whoever stands there loses a life. The game is over with the third, or after 90."""

    def __init__(self) -> None:
        self.observation_space = gym.spaces.Box(0.0, 1.0, (3,), dtype=np.float32)
        self.action_space = gym.spaces.Discrete(3)

    def _look(self) -> Any:
        return np.array([self.place / 4, self.lane / 4, self.height / 3], dtype=np.float32)

    def _drop(self) -> None:
        self.lane, self.height = int(np.clip(self.place + self.np_random.integers(-1, 2), 0, 4)), 3

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.place, self.lives, self.time = int(self.np_random.integers(5)), 3, 0
        self._drop()
        return self._look(), {"lives": self.lives}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.place = int(np.clip(self.place + int(action) - 1, 0, 4))
        self.height, self.time, reward = self.height - 1, self.time + 1, 0.0
        if self.height == 0:
            hit = self.lane == self.place
            self.lives, reward = self.lives - hit, -1.0 if hit else 1.0
            self._drop()
        return self._look(), reward, self.lives == 0, self.time >= 90, {"lives": self.lives}


class LifeByLife(gym.Wrapper[Any, Any, Any, Any]):
    def __init__(self, env: Any, anew: bool) -> None:
        super().__init__(env)
        self.anew, self.over = anew, True

    def reset(self, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
        if self.over or self.anew:
            self.seen, info = self.env.reset(**kwargs)
        else:
            info = {"lives": self.lives}
        self.over, self.lives = False, info["lives"]
        return self.seen, info

    def step(self, action: Any) -> Any:
        self.seen, reward, ended, cut, info = self.env.step(action)
        self.over, lost = ended or cut, info["lives"] < self.lives
        self.lives = info["lives"]
        return self.seen, reward, ended or lost, cut, info


def program(fault: str = "") -> None:
    random.seed(0)
    torch.manual_seed(0)
    env = LifeByLife(Dodge(), fault == "game-begins-anew")
    net, target = (nn.Sequential(nn.Linear(3, 48), nn.Tanh(), nn.Linear(48, 3)) for _ in range(2))
    target.load_state_dict(net.state_dict())
    optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
    memory: deque[Any] = deque(maxlen=1000)
    obs, _ = env.reset(seed=0)
    for t in range(STEPS):
        if random.random() < max(0.1, 1.0 - t / 700):
            action = random.randrange(1 if fault == "first-never-drawn" else 0, 3)
        else:
            with torch.no_grad():
                action = int(net(torch.from_numpy(obs)).argmax())
        after, reward, ended, cut, _ = env.step(action)
        memory.append((obs, action, reward, after, ended))
        obs = env.reset()[0] if ended or cut else after
        if len(memory) < 200:
            continue
        batch = [np.array(each) for each in zip(*random.sample(memory, 48), strict=True)]
        goes_on = 1.0 - torch.from_numpy(batch[4]).float()
        with torch.no_grad():
            following = target(torch.from_numpy(batch[3])).max(1).values
            goal = torch.from_numpy(batch[2]).float() + GAMMA * goes_on * following
        said = net(torch.from_numpy(batch[0])).gather(1, torch.from_numpy(batch[1])[:, None]).squeeze(1)
        loss = nn.functional.mse_loss(said, goal)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if t % 60 == 0:
            target.load_state_dict(net.state_dict())
