"""A small Q-learner with a target network, examined now and then in a world of its own with chosen seeds."""

from __future__ import annotations

import numpy as np
import torch
from torch import nn

from tests.programs.worlds import Line, network


def program(fault: str = "", steps: int = 260) -> None:
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    env, exam = Line(limit=20), Line(limit=20)
    net, target = network(), network()
    target.load_state_dict(net.state_dict())
    optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
    memory: list[tuple[np.ndarray, int, float, np.ndarray, bool]] = []
    obs, _ = env.reset(seed=0)
    for count in range(steps):
        action = int(rng.integers(2)) if rng.random() < 0.5 else best(net, obs)
        after, reward, ended, cut, _ = env.step(action)
        memory.append((obs, action, reward, after, ended))
        obs = env.reset()[0] if ended or cut else after
        if count < 20 or count % 2:
            continue
        seen, taken, paid, then, over = (np.array(each) for each in zip(*sample(memory, rng), strict=True))
        with torch.no_grad():
            goal = torch.tensor(paid) + 0.9 * target(torch.tensor(then)).max(1).values * ~torch.tensor(over)
        value = net(torch.tensor(seen)).gather(1, torch.tensor(taken)[:, None])[:, 0]
        loss = (value - goal.float()).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if count % 50 == 0 or (fault == "just loaded" and count % 60 == 20):
            target.load_state_dict(net.state_dict())
        if count % 60 == 20:
            played = examine(target if fault in ("target", "just loaded") else net, exam)
            memory += played if fault == "stores" else []


def sample(memory: list, rng: np.random.Generator) -> list:
    return [memory[each] for each in rng.integers(0, len(memory), 16)]


@torch.no_grad()
def best(net: nn.Module, obs: np.ndarray) -> int:
    return int(net(torch.as_tensor(obs)[None]).argmax())


def examine(net: nn.Module, env: Line) -> list:
    played = []
    for seed in (100, 101):
        obs, over = env.reset(seed=seed)[0], False
        while not over:
            action = best(net, obs)
            after, reward, ended, cut, _ = env.step(action)
            played.append((obs, action, reward, after, ended))
            obs, over = after, ended or cut
    return played
