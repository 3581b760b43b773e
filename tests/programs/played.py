"""A tiny actor-critic that is also evaluated: with a memory or without, in one environment or in two."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import torch
from gymnasium import spaces
from torch import Tensor, nn


class Corridor(gym.Env[Any, Any]):
    """Eight steps; the right action depends on what is seen. With `stuck` the clock is not set back."""

    def __init__(self, stuck: bool = False) -> None:
        self.observation_space = spaces.Box(-3, 3, (3,), dtype=np.float32)
        self.action_space = spaces.Discrete(3)
        self.stuck, self.time = stuck, 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.time = self.time if self.stuck else 0
        return self._look(), {}

    def _look(self) -> Any:
        self.seen = self.np_random.normal(size=3).astype(np.float32)
        return self.seen

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        reward = float(self.seen[int(action)])
        self.time += 1
        return self._look(), reward, False, self.time >= 8, {}


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.cell, self.head = nn.GRUCell(3, 8), nn.Linear(8, 3)

    def forward(self, obs: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        state = self.cell(obs, state)
        return self.head(state), state


def program(fault: str = "", rounds: int = 14) -> None:
    torch.manual_seed(0)
    env = Corridor(stuck=fault == "stuck")
    tests = [Corridor(), Corridor()]
    net = Net()
    optimizer = torch.optim.Adam(net.parameters(), 1e-2)
    obs, _ = env.reset(seed=1)
    state = torch.zeros(1, 8)
    for each in range(rounds):
        logps, rewards = [], []
        for _ in range(24):
            scores, state = net(torch.as_tensor(obs)[None], state.detach())
            dist = torch.distributions.Categorical(logits=scores)
            action = dist.sample()
            logps.append(dist.log_prob(action))
            obs, reward, ended, cut, _ = env.step(int(action))
            rewards.append(reward)
            if ended or cut:
                obs, _ = env.reset()
                state = torch.zeros(1, 8)
        loss = -(torch.cat(logps) * torch.tensor(rewards)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if each % 3 == 2:
            played = [env] if fault == "shared" else tests
            for number, test in enumerate(played):
                play(
                    net,
                    test,
                    draw=number == 1 and fault == "draws",
                    forget=fault == "forgets",
                    steps=5 if fault == "leaves" else 99,
                    keeps=fault == "keeps",
                )


@torch.no_grad()
def play(net: Net, env: Corridor, *, draw: bool, forget: bool, steps: int, keeps: bool) -> None:
    state = torch.zeros(1, 8)
    for episode in range(3):
        obs, _ = env.reset(seed=100 + episode)
        state = state if keeps else torch.zeros(1, 8)
        for _ in range(steps):
            scores, following = net(torch.as_tensor(obs)[None], state)
            state = state if forget else following
            action = torch.distributions.Categorical(logits=scores).sample() if draw else scores.argmax(-1)
            obs, _, ended, cut, _ = env.step(int(action))
            if ended or cut:
                break
