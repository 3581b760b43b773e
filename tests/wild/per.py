"""Double Q-learning with returns of several steps and a prioritised replay."""

from __future__ import annotations

from collections import deque

import gymnasium as gym
import numpy as np
import torch
from torch import nn

FAULTS = {
    "bootstrap-discounted-once": "DIS351",
    "window-not-discounted": "DIS351",
    "weights-by-a-positive-power": "BUF350",
    "window-kept-over-the-time-limit": "BUF351",
    "priorities-written-in-another-order": "BUF356",
    "new-rows-with-a-small-priority": "BUF357",
    "largest-value-learned": "VAL281",
}

GAMMA, STEPS, ALPHA, BETA = 0.97, 3, 0.6, 0.5


class Centred(gym.Wrapper):
    """It pays to stay in the middle."""

    def step(self, action):
        obs, reward, terminated, truncated, info = self.env.step(action)
        return obs, float(reward) - abs(float(obs[0])), terminated, truncated, info


class Replay:
    def __init__(self, size: int) -> None:
        self.size, self.at, self.count, self.top = size, 0, 0, 1.0
        self.seen, self.after = np.zeros((size, 4), np.float32), np.zeros((size, 4), np.float32)
        self.action = np.zeros(size, np.int64)
        self.paid, self.factor = np.zeros(size, np.float32), np.zeros(size, np.float32)
        self.priority = np.zeros(size)

    def add(self, seen, action, paid, after, factor) -> None:
        i = self.at
        self.seen[i], self.action[i], self.paid[i], self.after[i], self.factor[i] = seen, action, paid, after, factor
        self.priority[i] = self.top
        self.at, self.count = (i + 1) % self.size, min(self.count + 1, self.size)

    def draw(self, rows: int, power: float):
        share = self.priority[: self.count] ** ALPHA
        share /= share.sum()
        at = np.random.choice(self.count, rows, p=share)
        weight = (self.count * share[at]) ** power
        columns = (self.seen, self.action, self.paid, self.after, self.factor)
        return at, torch.as_tensor(weight / weight.max()).float(), [torch.from_numpy(each[at]) for each in columns]

    def learned(self, at, error) -> None:
        self.priority[at] = np.abs(error) + 1e-4
        self.top = max(self.top, self.priority[at].max())


def program(fault: str = "") -> None:
    torch.manual_seed(1)
    np.random.seed(1)
    env = Centred(gym.make("CartPole-v1", max_episode_steps=12))
    net, target = (nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2)) for _ in range(2))
    target.load_state_dict(net.state_dict())
    optimizer = torch.optim.Adam(net.parameters(), lr=5e-4)
    replay, window = Replay(1500), deque()
    small = 0.5 if fault == "new-rows-with-a-small-priority" else None

    def store(after, terminated: bool) -> None:
        discounts = [1.0 if fault == "window-not-discounted" else GAMMA**k for k in range(len(window))]
        paid = sum(factor * each[2] for factor, each in zip(discounts, window, strict=True))
        factor = GAMMA if fault == "bootstrap-discounted-once" else GAMMA ** len(window)
        seen, action, _ = window.popleft()
        replay.add(seen, action, paid, after, 0.0 if terminated else factor)
        if small is not None:
            replay.priority[replay.at - 1] = small

    obs, _ = env.reset(seed=1)
    env.action_space.seed(1)
    for t in range(1500):
        if np.random.rand() < max(0.05, 1.0 - t / 700):
            action = int(env.action_space.sample())
        else:
            action = int(net(torch.as_tensor(obs)).argmax())
        after, reward, terminated, truncated, _ = env.step(action)
        window.append((obs, action, reward))
        if len(window) == STEPS:
            store(after, terminated)
        if terminated or (truncated and fault != "window-kept-over-the-time-limit"):
            while window:
                store(after, terminated)
        obs = env.reset()[0] if terminated or truncated else after
        if t < 200 or t % 2:
            continue
        at, weight, (seen, taken, paid, later, factor) = replay.draw(
            32, BETA if fault == "weights-by-a-positive-power" else -BETA
        )
        with torch.no_grad():
            best = net(later).argmax(1, keepdim=True)
            goal = paid + factor * target(later).gather(1, best).squeeze(1)
        said = net(seen).gather(1, taken[:, None]).squeeze(1)
        if fault == "largest-value-learned":
            said = net(seen).max(dim=1).values
        error = said - goal
        loss = (weight * error**2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        at = np.sort(at) if fault == "priorities-written-in-another-order" else at
        replay.learned(at, error.detach().numpy())
        if t % 100 == 0:
            target.load_state_dict(net.state_dict())
