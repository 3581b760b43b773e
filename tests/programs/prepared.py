"""Small learners that prepare what they see: running statistics for numbers, scaling and stacking for pictures."""

from __future__ import annotations

from collections import deque
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from torch import nn

from tests.programs.data import Drift, net, tensor


class Stats:
    """Running mean and deviation of each element, or one for all."""

    def __init__(self, bug: str) -> None:
        self.seen: list[Any] = []
        self.bug = bug

    def add(self, obs: Any) -> Any:
        self.seen.append(obs)
        axis = None if self.bug == "one deviation" else 0
        known = self.seen[:-1] if self.bug == "tiny deviation" and len(self.seen) > 1 else self.seen  # updated too late
        self.mean, self.deviation = np.mean(known, axis=axis), np.std(known, axis=axis)
        return obs

    def __call__(self, obs: Any) -> Any:
        tiny = 1e-8 if self.bug == "tiny deviation" else 0.01
        x = (np.asarray(obs) - self.mean) / np.maximum(self.deviation, tiny) ** (2 if self.bug == "variance" else 1)
        if self.bug == "element lost":
            x[..., 1] = 0
        return x if self.bug == "tiny deviation" else np.clip(x, -10, 10)


class Alarm(Drift):
    """Its last element stays 0 for a while."""

    calls = 0

    def _obs(self) -> Any:
        self.calls += 1
        obs = super()._obs()
        obs[2] = 0.0 if self.calls < 100 else self.x[2]
        return obs


def normalised(bug: str = "", *, steps: int = 200) -> None:
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    make = Alarm if bug == "tiny deviation" else Drift
    env, stats = make(scale=(100, 30, 10)) if bug == "variance" else make(scale=(100, 1, 0.05)), Stats(bug)
    q, slow = net(3), net(3)
    slow.load_state_dict(q.state_dict())
    optimizer = torch.optim.Adam(q.parameters(), 1e-3)
    memory: list[Any] = []
    obs = stats.add(env.reset()[0])
    for step in range(steps):
        x = stats(obs)
        with torch.no_grad():
            action = int(rng.integers(3)) if rng.random() < 0.2 else int(q(tensor(x)[None]).argmax())
        after, reward, terminated, truncated, _ = env.step(action)
        stats.add(after)
        memory.append((obs if bug == "learner raw" else x, action, reward, stats(after), terminated))
        if truncated and bug == "final raw":
            with torch.no_grad():
                q(tensor(after)[None])
        obs = stats.add(env.reset()[0]) if terminated or truncated else after
        if step < 30:
            continue
        rows = [memory[each] for each in rng.integers(0, len(memory), 32)]
        s, a, r, s2, end = (tensor([each[place] for each in rows]) for place in range(5))
        with torch.no_grad():
            target = r + 0.9 * (1 - end) * slow(s2).max(1).values
        error = (q(s).gather(1, a.long()[:, None])[:, 0] - target) ** 2
        weight = torch.rand(32) * (1e-4 if bug == "weights vanish" else 0.5) + 1e-6
        weight[0] = 1
        optimizer.zero_grad()
        (weight * error).mean().backward()
        optimizer.step()
        if step % 20 == 0:
            slow.load_state_dict(q.state_dict())
    test = make(seed=5, scale=(100, 1, 0.05))
    for _ in range(4):
        obs, over = test.reset()[0], False
        while not over:
            with torch.no_grad():
                action = int(q(tensor(obs if bug == "evaluation raw" else stats(obs))[None]).argmax())
            obs, _, terminated, truncated, _ = test.step(action)
            over = terminated or truncated


class Film(gym.Env[Any, Any]):
    """A bright dot that jumps about; the two newest pictures are shown."""

    observation_space = gym.spaces.Box(0, 255, (8, 8, 2), np.uint8)
    action_space = gym.spaces.Discrete(3)

    def __init__(self, bug: str = "") -> None:
        self.bug = bug
        self.rng = np.random.default_rng(0)
        self.stack: deque[Any] = deque(maxlen=2)

    def _picture(self) -> Any:
        picture = self.rng.integers(0, 40, (8, 8)).astype(np.uint8)
        picture[tuple(self.rng.integers(0, 8, 2))] = 231
        return picture * 0 if self.bug == "blank" else picture

    def _obs(self) -> Any:
        if self.bug == "first frame kept":
            self.stack[-1] = self._picture()
        else:
            self.stack.append(self._picture())
        return np.stack([self.stack[-1]] * 2 if self.bug == "one array" else list(self.stack), axis=-1)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        self.t = 0
        first = self._picture()
        while len(self.stack) < 2 or (self.bug != "old frames" and self.stack[0] is not first):
            self.stack.append(first)
        return self._obs() if self.bug == "old frames" else np.stack(list(self.stack), axis=-1), {}

    def step(self, action: Any) -> Any:
        self.t += 1
        return self._obs(), float(self.rng.normal()), self.t >= 10, False, {}


class Eye(nn.Module):
    def __init__(self, divide: float) -> None:
        super().__init__()
        self.divide = divide
        self.body = nn.Sequential(nn.Conv2d(2, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(144, 3))

    def forward(self, x: Any) -> Any:
        return self.body(x / self.divide)


def pictures(bug: str = "", *, steps: int = 120) -> None:
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    env = Film(bug)
    q = Eye(255.0 if bug == "twice" else 1.0)
    slow = Eye(q.divide)
    optimizer = torch.optim.Adam(q.parameters(), 1e-4)
    memory: list[Any] = []

    def prepare(obs: Any, *, act: bool = False) -> Any:
        x = torch.as_tensor(np.asarray(obs)).float()
        turned = x.permute(0, 3, 1, 2)
        x = x.transpose(1, 3) if act and bug == "turned" else x.reshape(turned.shape) if bug == "cut" else turned
        return x if bug == "unscaled" or (bug == "learner unscaled" and not act) else x / 255

    obs, _ = env.reset()
    for step in range(steps):
        with torch.no_grad():
            action = int(rng.integers(3)) if rng.random() < 0.2 else int(q(prepare(obs[None], act=True)).argmax())
        after, reward, terminated, _, _ = env.step(action)
        memory.append((obs, action, reward, after, terminated))
        obs = env.reset()[0] if terminated else after
        if step < 30:
            continue
        rows = [memory[each] for each in rng.integers(0, len(memory), 16)]
        s, a, r, s2, end = (np.array([each[place] for each in rows]) for place in range(5))
        with torch.no_grad():
            target = tensor(r) + 0.9 * (1 - tensor(end)) * slow(prepare(s2)).max(1).values
        chosen = q(prepare(s)).gather(1, torch.as_tensor(a)[:, None])[:, 0]
        optimizer.zero_grad()
        nn.functional.mse_loss(chosen, target).backward()
        optimizer.step()
