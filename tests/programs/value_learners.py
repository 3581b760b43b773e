"""A small learner of action values with a prioritised replay of several steps, in two worlds; faults by name."""

from __future__ import annotations

import random
from collections import deque
from functools import cache
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from torch import nn

from rldebug.evidence.script import Script
from tests.watched import watched

GAMMA = 0.9


class Rooms(gym.Env[Any, Any]):
    """Twelve rooms in a row, each a vector of its own, a pit and a prize at the ends: observations come back."""

    def __init__(self, rooms: int = 12) -> None:
        self.rooms = rooms
        self.observation_space = gym.spaces.Box(0.0, 1.0, (rooms,), np.float32)
        self.action_space = gym.spaces.Discrete(3)

    def _seen(self) -> Any:
        return np.eye(self.rooms, dtype=np.float32)[self.at]

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.at = int(self.np_random.integers(3, 9))
        return self._seen(), {}

    def step(self, action: Any) -> Any:
        self.at = int(np.clip(self.at + int(action) - 1, 0, self.rooms - 1))
        ended = self.at in (0, self.rooms - 1)
        reward = (5.0 if self.at else -3.0) if ended else -0.1 * (1 + self.at % 2)
        return self._seen(), reward, ended, False, {}


class Drift(gym.Env[Any, Any]):
    """Every observation is new. Ends by itself, and by a limit."""

    def __init__(self) -> None:
        self.observation_space = gym.spaces.Box(-9.0, 9.0, (3,), np.float32)
        self.action_space = gym.spaces.Discrete(3)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.x, self.count = self.np_random.normal(size=3), 0
        return self.x.astype(np.float32), {}

    def step(self, action: Any) -> Any:
        self.x = 0.9 * self.x + 0.3 * self.np_random.normal(size=3)
        self.x[0] += 0.3 * (int(action) - 1)
        self.count += 1
        ended = bool(self.x[0] < -1.2)
        return self.x.astype(np.float32), float(self.x[0] + 0.5 * self.x[1]), ended, self.count >= 12, {}


def learner(fault: str = "", world: str = "drift", n: int = 1, steps: int = 330) -> None:
    torch.manual_seed(0)
    random.seed(0)
    draw = np.random.default_rng(0)
    env: Any = Rooms() if world == "rooms" else Drift()
    wide = env.observation_space.shape[0]
    q, frozen = (_network(wide, fault) for _ in range(2))
    frozen.load_state_dict(q.state_dict())
    optimizer = torch.optim.Adam(q.parameters(), 3e-3)
    memory: list[Any] = []
    priority: list[float] = []
    window: deque[Any] = deque()
    obs, _ = env.reset(seed=0)
    before = 0.0
    for step in range(steps):
        with torch.no_grad():
            greedy = int(q(torch.as_tensor(obs)).argmax())
        action = int(draw.integers(3)) if draw.random() < 0.5 else greedy
        following, reward, ended, cut, _ = env.step(action)
        stored = before if fault == "reward-late" else 0.0 if fault == "reward-masked" and ended else reward
        before = reward
        window.append((obs, action, stored))
        over = ended if fault == "crosses" else ended or cut
        while window and (over or len(window) == n):
            steps = list(window)[::-1] if fault == "reversed" else window
            total = sum(_factor(fault, k) * each[2] for k, each in enumerate(steps))
            factor = GAMMA if fault == "once" else GAMMA ** len(window)
            led = window[1][0] if fault == "near" and len(window) > 1 else following
            memory.append((window[0][0], window[0][1], total, led, 0.0 if ended else factor))
            priority.append(max(priority, default=1.0))
            window.popleft()
        obs = env.reset()[0] if ended or cut else following
        if step >= 60 and step % 3 == 0:
            _update(q, frozen, optimizer, memory, priority, draw, fault)
        if step % 40 == 0:
            frozen.load_state_dict(q.state_dict())


class Dueling(nn.Module):
    def __init__(self, wide: int, over_batch: bool) -> None:
        super().__init__()
        self.body, self.over_batch = nn.Linear(wide, 16), over_batch
        self.value, self.advantage = nn.Linear(16, 1), nn.Linear(16, 3)

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        seen = torch.tanh(self.body(obs))
        better: torch.Tensor = self.advantage(seen)
        middle = better.mean() if self.over_batch else better.mean(dim=-1, keepdim=True)
        made: torch.Tensor = self.value(seen) + better - middle
        return made


def _network(wide: int, fault: str) -> nn.Module:
    if fault.startswith("dueling"):
        return Dueling(wide, fault == "dueling-mixed")
    return nn.Sequential(nn.Linear(wide, 16), nn.Tanh(), nn.Linear(16, 3))


def _factor(fault: str, k: int) -> float:
    return 1.0 if fault == "summed" else GAMMA**k


def _update(q: Any, frozen: Any, optimizer: Any, memory: Any, priority: Any, draw: Any, fault: str) -> None:
    chance = np.array(priority) ** 0.7
    chance /= chance.sum()
    rows = draw.choice(len(memory), 24, p=chance)
    weight = (len(memory) * chance[rows]) ** (0.6 if fault == "weighted-up" else -0.6)
    weights = torch.as_tensor(weight / weight.max(), dtype=torch.float32)
    columns = list(zip(*(memory[each] for each in rows), strict=True))
    obs, following = torch.as_tensor(np.array(columns[0])), torch.as_tensor(np.array(columns[3]))
    actions = torch.tensor(columns[1])
    if fault == "actions-moved":
        actions = actions.roll(1)
    reward = torch.tensor(columns[2], dtype=torch.float32)
    factor = torch.tensor(columns[4], dtype=torch.float32)
    with torch.no_grad():
        values = frozen(obs if fault == "own" else following)
        best = values.max(1).values
        if fault == "least":
            best = values.min(1).values
        elif fault == "index":
            best = values.max(1).indices
        elif fault == "mean":
            best = values.mean(1)
        elif fault == "elsewhere":
            best = values[torch.arange(len(rows)), q(obs).argmax(1)]
        elif fault == "batch":
            best = values.max()
        target = reward + factor * best
        if fault == "all-discounted":
            target = GAMMA * reward + factor * best
    given = q(obs)
    taken = given.max(1).values if fault == "best learned" else given[torch.arange(len(rows)), actions]
    error = taken - target
    optimizer.zero_grad()
    (weights * error**2).mean().backward()
    optimizer.step()
    for row, each in zip(rows, error.detach().abs().tolist(), strict=True):
        priority[row] = each + 1e-3


class Bits(gym.Env[Any, Any]):
    """Seven bits, of which each action turns one; all of them are to be as the other seven say."""

    def __init__(self, bits: int = 7) -> None:
        self.bits = bits
        self.observation_space = gym.spaces.Box(0.0, 1.0, (2 * bits,), np.float32)
        self.action_space = gym.spaces.Discrete(bits)

    def _seen(self) -> Any:
        return np.concatenate([self.state, self.goal]).astype(np.float32)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.state, self.goal = self.np_random.integers(0, 2, (2, self.bits))
        self.count = 0
        return self._seen(), {}

    def step(self, action: Any) -> Any:
        self.state = self.state.copy()
        self.state[int(action)] ^= 1
        self.count += 1
        reached = bool((self.state == self.goal).all())
        return self._seen(), 0.0 if reached else -1.0, reached, self.count >= 8, {}


class Board:
    """The same, of no library: the goal is told at the beginning, and nobody counts the steps."""

    def __init__(self, bits: int) -> None:
        self.of, self.bits = Bits(bits), bits

    def reset(self, *, seed: int | None = None) -> Any:
        obs, _ = self.of.reset(seed=seed)
        return obs[: self.bits], obs[self.bits :]

    def step(self, action: Any) -> Any:
        obs, reward, reached, _, _ = self.of.step(action)
        return obs[: self.bits], reward, reached


def in_hindsight(fault: str = "", episodes: int = 26) -> None:
    torch.manual_seed(0)
    draw = np.random.default_rng(0)
    beside = fault.startswith("beside")
    env: Any = (
        Board(7 if fault.endswith("no-hindsight") else 4) if beside else Bits(3 if fault.startswith("few-goals") else 7)
    )
    bits = env.bits
    q, frozen = (nn.Sequential(nn.Linear(2 * bits, 24), nn.ReLU(), nn.Linear(24, bits)) for _ in range(2))
    frozen.load_state_dict(q.state_dict())
    optimizer = torch.optim.Adam(q.parameters(), 1e-3)
    memory: list[Any] = []
    for number in range(episodes):
        obs, goal = env.reset(seed=0 if number == 0 else None)
        obs = np.concatenate([obs, goal]) if beside else obs
        episode: list[Any] = []
        over = False
        while not over:
            with torch.no_grad():
                given = np.concatenate([obs[:bits], obs[:bits]]) if fault == "acts-without-goal" else obs
                greedy = int(q(torch.as_tensor(given)).argmax())
            action = int(draw.integers(bits)) if draw.random() < 0.5 else greedy
            if beside:
                state, reward, ended = env.step(action)
                following, cut = np.concatenate([state, goal]), len(episode) == 7
            else:
                following, reward, ended, cut, _ = env.step(action)
            episode.append((obs, action, reward, following, ended))
            obs, over = following, ended or cut
        for at, (obs, action, reward, following, ended) in enumerate(episode):
            memory.append((obs, action, reward, following, float(ended)))
            for _ in range(0 if fault.endswith("no-hindsight") else 3):
                goal = episode[int(draw.integers(at, len(episode)))][3][:bits]
                reached = bool((following[:bits] == goal).all())
                paid = reward if fault.endswith("reward-kept") else 0.0 if reached else -1.0
                rows = [np.concatenate([each[:bits], goal]) for each in (obs, following)]
                if fault.endswith("old-goal-next"):
                    rows[1] = following
                memory.append((rows[0], action, paid, rows[1], float(reached)))
        for _ in range(6 if number > 4 else 0):
            picked = draw.integers(0, len(memory), 48)
            columns = list(zip(*(memory[each] for each in picked), strict=True))
            before, after = torch.as_tensor(np.array(columns[0])), torch.as_tensor(np.array(columns[3]))
            with torch.no_grad():
                best = frozen(before if fault == "own" else after).max(1).values
                mask = 1.0 if fault == "unmasked" else 1.0 - torch.tensor(columns[4])
                target = torch.tensor(columns[2], dtype=torch.float32) + GAMMA * mask * best
                target = target.clamp(0.0, 1.0 / (1.0 - GAMMA)) if fault == "clamped" else target
            chosen = q(before).gather(1, torch.tensor(columns[1])[:, None])[:, 0]
            optimizer.zero_grad()
            loss: Any = nn.functional.smooth_l1_loss(chosen, target)
            loss.backward()
            optimizer.step()
        if number % 5 == 0:
            frozen.load_state_dict(q.state_dict())


def categorical(fault: str = "", steps: int = 260) -> None:
    """Distributions over returns, of 21 atoms, learned by a cross-entropy."""
    torch.manual_seed(0)
    draw = np.random.default_rng(0)
    env, atoms = Drift(), 21
    support = torch.linspace(-40.0, 40.0, atoms)
    q, frozen = (nn.Sequential(nn.Linear(3, 24), nn.Tanh(), nn.Linear(24, 3 * atoms)) for _ in range(2))
    frozen.load_state_dict(q.state_dict())
    optimizer = torch.optim.Adam(q.parameters(), 3e-3)
    memory: list[Any] = []
    obs, _ = env.reset(seed=0)
    for step in range(steps):
        with torch.no_grad():
            greedy = int((q(torch.as_tensor(obs)).view(3, atoms).softmax(1) @ support).argmax())
        action = int(draw.integers(3)) if draw.random() < 0.5 else greedy
        following, reward, ended, cut, _ = env.step(action)
        memory.append((obs, action, reward, following, float(ended)))
        obs = env.reset()[0] if ended or cut else following
        if step < 60 or step % 3:
            continue
        rows = draw.integers(0, len(memory), 32)
        columns = list(zip(*(memory[each] for each in rows), strict=True))
        before, after = torch.as_tensor(np.array(columns[0])), torch.as_tensor(np.array(columns[3]))
        paid, over = (torch.tensor(columns[at], dtype=torch.float32) for at in (2, 4))
        with torch.no_grad():
            chance = frozen(after).view(-1, 3, atoms).softmax(2)
            greedy_next = (chance @ support).argmax(1)
            best = chance[torch.arange(32), greedy_next]
            mask = torch.ones(32) if fault == "unmasked" else 1.0 - over
            goal = _projected(best, paid[:, None] + GAMMA * mask[:, None] * support, support, fault)
            goal = goal * torch.linspace(0.3, 1.0, 32)[:, None] if fault == "weighed" else goal
        taken = greedy_next if fault == "next action" else torch.tensor(columns[1])
        logp = q(before).view(-1, 3, atoms).log_softmax(2)[torch.arange(32), taken]
        optimizer.zero_grad()
        (-(goal * logp).sum(1)).mean().backward()
        optimizer.step()
        if step % 30 == 0:
            frozen.load_state_dict(q.state_dict())


def _projected(chance: torch.Tensor, moved: torch.Tensor, support: torch.Tensor, fault: str = "") -> torch.Tensor:
    at = ((moved - support[0]) / (support[1] - support[0])).clamp(0, len(support) - 1)
    low = at.floor().clamp(max=len(support) - 2)
    made = torch.zeros_like(chance)
    made.scatter_add_(1, low.long(), chance * (1 - (at - low)))
    if fault == "overwritten":
        return made.scatter_(1, low.long() + 1, chance * (at - low))
    made.scatter_add_(1, low.long() + 1, chance * (at - low))
    return made


@cache
def categorised(fault: str = "") -> Script:
    return watched(lambda: categorical(fault), overhead_budget=10.0)[1]


@cache
def relabelled(fault: str = "") -> Script:
    return watched(lambda: in_hindsight(fault), overhead_budget=10.0)[1]


@cache
def learned(fault: str = "", world: str = "drift", n: int = 1) -> Script:
    return watched(lambda: learner(fault, world, n), overhead_budget=10.0)[1]
