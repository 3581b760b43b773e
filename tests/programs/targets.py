"""Small learners for the rules about target networks and exploration, each with the mistake it is asked to make."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import torch
from torch import nn

from rldebug.evidence.script import Script
from tests.programs.data import Drift, found, net, tensor
from tests.watched import watched

__all__ = ["ddpg", "found", "novelty", "q_learner", "seen"]


@cache
def seen(program: str, bug: str = "", **options: Any) -> Script:
    """What was seen of one of the programs below; each is run once for all tests."""
    return watched(lambda: globals()[program](bug, **options), overhead_budget=10.0)[1]


def _follow(bug: str, update: int, q: nn.Module, slow: nn.Module) -> None:
    """The target network, after each update."""
    if bug in ("soft", "not asked", "statistics") or bug.startswith("tau"):
        tau = float(bug.removeprefix("tau ")) if bug.startswith("tau") else 0.05
        for mine, theirs in zip(slow.parameters(), q.parameters(), strict=True):
            mine.data.mul_(1 - tau).add_(tau * theirs.data)
    elif bug == "in place at times":
        for mine, theirs in zip(slow.parameters(), q.parameters(), strict=True) if update % 12 == 0 else ():
            mine.data.mul_(0.0).add_(theirs.data)
    elif bug == "local name":
        weights: list[Any] = list(slow.parameters())
        for mine, theirs in zip(weights, q.parameters(), strict=True):
            mine = 0.95 * mine.data + 0.05 * theirs.data
    elif bug == "mixture loaded":
        online = q.state_dict()
        slow.load_state_dict({name: 0.95 * each + 0.05 * online[name] for name, each in slow.state_dict().items()})
    elif bug == "backwards" and update % 10 == 0:
        q.load_state_dict(slow.state_dict())
    elif bug == "onto itself" and update % 10 == 0:
        slow.load_state_dict(slow.state_dict())
    elif bug == "every update" or (bug in ("", "one object", "double", "swapped") and update % 10 == 0):
        slow.load_state_dict(q.state_dict())


class Behind(nn.Module):
    """Asked by a method of its own, and never called itself."""

    def __init__(self, parts: int) -> None:
        super().__init__()
        self.parts = nn.ModuleList([net(3)] if parts == 1 else [nn.Sequential(net(8), nn.Tanh()), net(3, 8)])

    def values(self, rows: torch.Tensor) -> torch.Tensor:
        for each in self.parts:
            rows = each(rows)
        return rows


def by_method(bug: str = "", *, parts: int = 1, soft: bool = False) -> None:
    """Double Q-learning; the target is copied whole, or follows softly."""
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    env = Drift()
    fast, slow = Behind(parts), Behind(parts)
    slow.load_state_dict(fast.state_dict())
    optimizer = torch.optim.Adam(fast.parameters(), lr=3e-3)
    memory: list[Any] = []
    obs, _ = env.reset()
    for step in range(160):
        with torch.no_grad():
            action = int(fast.values(tensor(obs)[None]).argmax()) if rng.random() > 0.2 else int(rng.integers(3))
        after, reward, ended, cut, _ = env.step(action)
        memory.append((obs, action, reward, after, ended))
        obs = env.reset()[0] if ended or cut else after
        if len(memory) < 24:
            continue
        picked = [memory[each] for each in rng.integers(0, len(memory), 16)]
        s, a, r, t, d = (np.array(each) for each in zip(*picked, strict=True))
        with torch.no_grad():
            best = fast.values(tensor(t)).argmax(1, keepdim=True)
            judge = fast if bug == "not asked" else slow
            target = tensor(r) + 0.9 * (1 - tensor(d)) * judge.values(tensor(t)).gather(1, best)[:, 0]
        loss = (fast.values(tensor(s)).gather(1, torch.as_tensor(a)[:, None])[:, 0] - target).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if soft:
            for mine, theirs in zip(slow.parameters(), fast.parameters(), strict=True):
                mine.data.lerp_(theirs.data, 0.05)
        elif step % 10 == 0:
            slow.load_state_dict(fast.state_dict())


def q_learner(
    bug: str = "",
    *,
    epsilon: Callable[[int], float] = lambda step: max(0.05, 0.98**step),
    steps: int = 120,
    warm: int = 24,
    choose: str = "argmax",
) -> None:
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    env = Drift()
    q = nn.Sequential(nn.BatchNorm1d(3), net(3)).eval() if bug == "statistics" else net(3)
    slow = q if bug == "one object" else copy.deepcopy(q)
    optimizer = torch.optim.Adam(q.parameters(), lr=3e-3)
    memory: list[Any] = []
    obs, _ = env.reset()
    for step in range(steps):
        if rng.random() < epsilon(step):
            action = int(rng.integers(2 if bug == "last never drawn" else 3))
        else:
            with torch.no_grad():
                action = int(getattr(torch, choose)(q(tensor(obs)[None]), 1))
        after, reward, ended, cut, _ = env.step(action)
        memory.append((obs, action, reward, after, ended))
        obs = env.reset()[0] if ended or cut else after
        if len(memory) < warm:
            continue
        picked = [memory[each] for each in rng.integers(0, len(memory), 16)]
        s, a, r, t, d = (np.array(each) for each in zip(*picked, strict=True))
        bootstrap = (q if bug in ("attached", "not asked") else slow)(tensor(t)).max(1).values
        if bug in ("double", "swapped"):
            judge, chooser = (slow, q) if bug == "double" else (q, slow)
            bootstrap = judge(tensor(t)).gather(1, chooser(tensor(t)).argmax(1, keepdim=True))[:, 0]
        if bug != "attached":
            bootstrap = bootstrap.detach()
        q.train()
        target = tensor(r) + 0.9 * (1 - tensor(d)) * bootstrap
        loss = (q(tensor(s)).gather(1, torch.as_tensor(a)[:, None])[:, 0] - target).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        q.eval()
        _follow(bug, step, q, slow)


def ddpg(bug: str = "", *, steps: int = 80, noise: str = "normal") -> None:
    """An actor, two critics and their targets."""
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    env = Drift(box=True)
    actor = nn.Sequential(net(1), nn.Tanh())
    critics = [net(1, 4), net(1, 4)]
    if bug == "twins":
        critics[1].load_state_dict(critics[0].state_dict())
    if bug == "one critic":
        critics[1] = critics[0]
    slow_actor, slow = copy.deepcopy(actor), [copy.deepcopy(each) for each in critics]
    learn_actor = torch.optim.Adam(actor.parameters(), lr=1e-3)
    learn = torch.optim.Adam({each: None for c in critics for each in c.parameters()}, lr=3e-3)
    memory: list[Any] = []
    obs, _ = env.reset()
    for _ in range(steps):
        with torch.no_grad():
            action = actor(tensor(obs)[None]).numpy()[0]
        if noise != "none":
            drawn = rng.random(1) if noise == "one-sided" else rng.normal(size=1)
            action = np.clip(action + 0.2 * drawn, -1, 1)
        action = action.astype(np.float32)
        after, reward, ended, cut, _ = env.step(action)
        memory.append((obs, action, reward, after, ended))
        obs = env.reset()[0] if ended or cut else after
        if len(memory) < 24:
            continue
        picked = [memory[each] for each in rng.integers(0, len(memory), 16)]
        s, a, r, t, d = (tensor(each) for each in zip(*picked, strict=True))
        with torch.no_grad():
            best = [each(torch.cat([t, slow_actor(t)], 1))[:, 0] for each in slow]
            target = r + 0.9 * (1 - d) * torch.minimum(*best)
        loss = sum((each(torch.cat([s, a], 1))[:, 0] - target).square().mean() for each in critics)
        learn.zero_grad()
        loss.backward()
        learn.step()
        gain = critics[0](torch.cat([s, actor(s)], 1)).mean()
        learn_actor.zero_grad()
        (-gain).backward()
        learn_actor.step()
        pairs = [(slow_actor, actor), *zip(slow, critics, strict=True)]
        for mine, theirs in pairs[: -1 if bug == "forgotten" else None]:
            _follow("soft", 0, theirs, mine)


def novelty(bug: str = "") -> None:
    """A network learns to predict another one of its shape that is never trained, in shuffled batches."""
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    env = Drift()
    guess, fixed = net(3), net(3)
    optimizer = torch.optim.Adam(guess.parameters(), lr=1e-2)
    obs, _ = env.reset()
    for _ in range(12):
        rows = []
        for _ in range(16):
            rows.append(obs)
            after, _, ended, cut, _ = env.step(int(rng.integers(3)))
            obs = env.reset()[0] if ended or cut else after
        with torch.no_grad():
            wanted = fixed(tensor(rows))
        for _ in range(8):
            order = rng.permutation(16)
            loss = (guess(tensor(rows)[order]) - wanted[order]).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
