"""A policy with a memory, learned by REINFORCE, that is also evaluated now and then."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import torch
from gymnasium import spaces
from torch import Tensor, nn

FAULTS = {
    "one-evaluation-draws": "EVA350",
    "demo-plays-the-training-env": "EVA351",
    "state-not-carried-in-evaluation": "EVA353",
    "evaluation-in-the-training-env": "EVA356",
    "clock-not-reset": "ENV350",
}
GAMMA, LENGTH = 0.9, 8


class Corridor(gym.Env[Any, Any]):
    """Eight steps; the best action is the one whose number is the largest of those seen."""

    def __init__(self, fault: str = "") -> None:
        self.observation_space = spaces.Box(-5, 5, (3,), dtype=np.float32)
        self.action_space = spaces.Discrete(3)
        self.fault, self.time = fault, 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        if self.fault != "clock-not-reset":
            self.time = 0
        return self._look(), {}

    def _look(self) -> Any:
        self.seen = self.np_random.normal(size=3).astype(np.float32)
        return self.seen

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        reward = float(self.seen[int(action)])
        self.time += 1
        return self._look(), reward, self.time >= LENGTH, False, {}


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.cell, self.head = nn.GRUCell(3, 8), nn.Linear(8, 3)

    def forward(self, obs: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        state = self.cell(obs, state)
        return self.head(state), state


@torch.no_grad()
def play(net: Net, env: gym.Env[Any, Any], episodes: int, *, draw: bool = False, fault: str = "") -> float:
    total = 0.0
    for episode in range(episodes):
        obs, _ = env.reset(seed=100 + episode)
        state, over = torch.zeros(1, 8), False
        while not over:
            scores, following = net(torch.as_tensor(obs)[None], state)
            if fault != "state-not-carried-in-evaluation":
                state = following
            action = torch.distributions.Categorical(logits=scores).sample() if draw else scores.argmax(-1)
            obs, reward, ended, cut, _ = env.step(int(action))
            total += float(reward)
            over = ended or cut
    return total / episodes


def to_go(rewards: list[float], ends: list[bool]) -> Tensor:
    found, carried = [], 0.0
    for reward, ended in zip(reversed(rewards), reversed(ends), strict=True):
        carried = reward + GAMMA * carried * (not ended)
        found.append(carried)
    return torch.tensor(found[::-1])


def program(fault: str = "", rounds: int = 14) -> None:
    torch.manual_seed(0)
    env = Corridor(fault)
    tests: list[gym.Env[Any, Any]] = [Corridor(), Corridor()]
    if fault == "evaluation-in-the-training-env":
        tests = [env]
    net = Net()
    optimizer = torch.optim.Adam(net.parameters(), 1e-2)
    obs, _ = env.reset(seed=1)
    state = torch.zeros(1, 8)
    for each in range(rounds):
        logps, rewards, ends = [], [], []
        for _ in range(3 * LENGTH):
            scores, state = net(torch.as_tensor(obs)[None], state)
            dist = torch.distributions.Categorical(logits=scores)
            action = dist.sample()
            logps.append(dist.log_prob(action))
            obs, reward, ended, cut, _ = env.step(int(action))
            rewards.append(reward)
            ends.append(ended or cut)
            if ends[-1]:
                obs, _ = env.reset()
                state = torch.zeros(1, 8)
        returns = to_go(rewards, ends)
        returns = (returns - returns.mean()) / (returns.std() + 1e-8)
        loss = -(torch.cat(logps) * returns).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        state = state.detach()
        if each % 3 == 2:
            for number, test in enumerate(tests):
                play(net, test, 3, draw=number == 1 and fault == "one-evaluation-draws", fault=fault)
            if fault == "demo-plays-the-training-env":
                play(net, env, 1)
