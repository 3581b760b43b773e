"""Distributions over returns, learned from a prioritised replay: by which error and with which weights, as is asked."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import torch
from torch import nn

GAMMA, ATOMS, ALPHA, LOW, HIGH = 0.9, 31, 0.7, -3.0, 3.0


class Gambles(gym.Env[Any, Any]):
    """What lies ahead is certain in half of the places and a toss in the others; one of eight, or never the same."""

    action_space = gym.spaces.Discrete(2)

    def __init__(self, few: bool) -> None:
        self.few, wide = few, 8 if few else 3
        self.observation_space = gym.spaces.Box(-9.0, 9.0, (wide,), np.float32)

    def _seen(self) -> Any:
        if self.few:
            return np.eye(8, dtype=np.float32)[self.at]
        return np.array([self.at / 8, *self.np_random.normal(size=2)], dtype=np.float32)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.at = int(self.np_random.integers(8))
        return self._seen(), {}

    def step(self, action: Any) -> Any:
        toss = float(self.np_random.choice([-2.0, 2.0])) if self.at % 2 else 0.2 * self.at * int(action)
        self.at = int(self.np_random.integers(8))
        return self._seen(), toss, bool(self.np_random.random() < 0.3), False, {}


def distributional(
    measure: str = "divergence", power: float = -0.6, few: bool = True, order: str = "", steps: int = 260
) -> None:
    torch.manual_seed(0)
    draw = np.random.default_rng(0)
    env = Gambles(few)
    wide = env.observation_space.shape[0]
    net, slow = (nn.Sequential(nn.Linear(wide, 32), nn.Tanh(), nn.Linear(32, 2 * ATOMS)) for _ in range(2))
    slow.load_state_dict(net.state_dict())
    atoms = torch.linspace(LOW, HIGH, ATOMS)
    optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
    memory: list[Any] = []
    priority: list[float] = []
    obs, _ = env.reset(seed=0)
    for step in range(steps):
        with torch.no_grad():
            best = (net(torch.as_tensor(obs)[None]).view(2, ATOMS).softmax(-1) * atoms).sum(-1)
        action = int(draw.integers(2)) if draw.random() < 0.3 else int(best.argmax())
        after, reward, ended, _, _ = env.step(action)
        memory.append((obs, action, reward, after, ended))
        priority.append(max(priority, default=1.0))
        obs = env.reset()[0] if ended else after
        if step < 60 or step % 2:
            continue
        chance = np.array(priority) ** ALPHA
        chance /= chance.sum()
        rows = draw.choice(len(memory), 32, p=chance)
        weight = (len(memory) * chance[rows]) ** power
        weights = torch.as_tensor(weight / weight.max(), dtype=torch.float32)
        s, a, r, t, d = (np.array(each) for each in zip(*(memory[each] for each in rows), strict=True))
        with torch.no_grad():
            chances = slow(torch.as_tensor(t)).view(-1, 2, ATOMS).softmax(-1)
            chances = chances[torch.arange(32), (chances * atoms).sum(-1).argmax(1)]
            moved = torch.as_tensor(r)[:, None] + GAMMA * torch.as_tensor(1.0 - d)[:, None] * atoms
            place = (moved.clamp(LOW, HIGH) - LOW) / (atoms[1] - atoms[0])
            under, over = place.floor().long(), place.ceil().long().clamp(max=ATOMS - 1)
            mass = torch.zeros(32, ATOMS)
            mass.scatter_add_(1, under, chances * (1.0 - (place - under)).float())
            mass.scatter_add_(1, over, chances * (place - under).float())
        log = net(torch.as_tensor(s)).view(-1, 2, ATOMS)[torch.arange(32), torch.as_tensor(a)].log_softmax(-1)
        crossed = -(mass * log).sum(1)
        optimizer.zero_grad()
        (weights * crossed).mean().backward()
        optimizer.step()
        with torch.no_grad():
            if measure == "divergence":
                error = crossed + (mass * mass.clamp(min=1e-12).log()).sum(1)
            elif measure == "means":
                error = ((mass - log.exp()) * atoms).sum(1).abs()
            elif measure == "reward":  # what paid well is drawn often
                error = torch.as_tensor(r).float() - LOW
            else:
                error = crossed
        if order == "sorted":
            rows = np.sort(rows)
        for place_, each in zip(rows, error.tolist(), strict=True):
            priority[place_] = max(each, 0.0) + 1e-4
        if step % 40 == 0:
            slow.load_state_dict(net.state_dict())
