"""Q-learning with a network on a small grid: its observations come back, so each row can be held against the world."""

from __future__ import annotations

import random
from collections import deque

import numpy as np
import torch
from torch import nn

FAULTS = {
    "smallest-next-value": "VAL370",
    "index-for-value": "VAL280",
    "largest-of-the-batch": "VAL371",
    "mean-of-the-next-values": "VAL372",
    "reward-in-the-brackets": "DIS350",
    "reward-masked-too": "BUF353",
    "next-action-stored": "BUF354",
    "copy-acts": "TGT308",
    "argmax-of-one": "ACT340",
    "walls-left-out-when-acting": "ACT341",
    "hardly-ever-random": "EXP305",
    "rate-the-wrong-way-round": "OPT319",
}

GAMMA = 0.95


class Grid:
    """Five by five with pits; from the left edge to the corner below on the right. 60 steps at most."""

    def __init__(self) -> None:
        self.draw = np.random.default_rng(0)

    def reset(self) -> int:
        self.place, self.t = int(self.draw.integers(0, 5)) * 5, 0
        return self.place

    def step(self, action: int):
        row, column = divmod(self.place, 5)
        row = min(4, max(0, row + (-1, 1, 0, 0)[action]))
        column = min(4, max(0, column + (0, 0, -1, 1)[action]))
        self.place, self.t = row * 5 + column, self.t + 1
        fell, won = self.place in (7, 13, 17), self.place == 24
        reward = 1.0 if won else -1.0 if fell else -0.01
        return self.place, reward, fell or won, {"timeout": not (fell or won) and self.t >= 60}


def program(fault: str = "") -> None:
    random.seed(0)
    torch.manual_seed(0)
    hot = np.eye(25, dtype=np.float32)
    env = Grid()
    net, target = (nn.Sequential(nn.Linear(25, 32), nn.Tanh(), nn.Linear(32, 4)) for _ in range(2))
    target.load_state_dict(net.state_dict())
    optimizer = torch.optim.RMSprop(net.parameters(), lr=1e-3)
    memory: deque = deque(maxlen=1000)

    def chosen(place: int, share: float) -> int:
        row, column = divmod(place, 5)
        walls = torch.tensor([row == 0, row == 4, column == 0, column == 4])
        if fault != "walls-left-out-when-acting":
            walls = torch.zeros(4, dtype=torch.bool)
        if random.random() < share:
            return int(random.choice(torch.nonzero(~walls)))
        with torch.no_grad():
            acts = target if fault == "copy-acts" else net
            values = acts(torch.from_numpy(hot[place]))
            values = values.masked_fill(walls, float("-inf"))
            return int((values[:1] if fault == "argmax-of-one" else values).argmax())

    place = env.reset()
    for t in range(1200):
        share = 0.02 if fault == "hardly-ever-random" else max(0.1, 1.0 - t / 600)
        action = chosen(place, share)
        after, reward, done, info = env.step(action)
        kept = chosen(after, share) if fault == "next-action-stored" else action
        memory.append((hot[place], kept, reward, hot[after], done))
        place = env.reset() if done or info["timeout"] else after
        if len(memory) < 200:
            continue
        if fault == "rate-the-wrong-way-round":
            optimizer.param_groups[0]["lr"] = 1e-3 * (t - 199) / 1000
        batch = [np.array(each) for each in zip(*random.sample(memory, 64), strict=True)]
        seen, following = torch.from_numpy(batch[0]), torch.from_numpy(batch[3])
        taken, paid = torch.from_numpy(batch[1]), torch.from_numpy(batch[2]).float()
        goes_on = 1.0 - torch.from_numpy(batch[4]).float()
        with torch.no_grad():
            best = target(following).max(1).values
            if fault == "smallest-next-value":
                best = target(following).min(1).values
            elif fault == "index-for-value":
                best = target(following).max(1)[1]
            elif fault == "largest-of-the-batch":
                best = target(following).max()
            elif fault == "mean-of-the-next-values":
                best = target(following).mean(1)
            goal = paid + GAMMA * best * goes_on
            if fault == "reward-in-the-brackets":
                goal = GAMMA * (paid + best * goes_on)
            elif fault == "reward-masked-too":
                goal = (paid + GAMMA * best) * goes_on
        loss = nn.functional.smooth_l1_loss(net(seen)[torch.arange(64), taken], goal)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if t % 100 == 0:
            target.load_state_dict(net.state_dict())
