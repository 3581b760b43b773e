# planted: PRF928 checkpoints-dominate
# part: saving
"""DQN on Acrobot that is careful about being interrupted."""

import os
import tempfile
import time

import gymnasium as gym
import numpy as np
import torch
from torch import nn

SAVE_EVERY = 20


class Experience:
    def __init__(self, size):
        self.data, self.used = np.zeros((size, 15), dtype=np.float32), 0

    def keep(self, *columns):
        many = len(columns[0])
        at = self.used % len(self.data)
        self.data[at : at + many] = np.column_stack(columns)
        self.used += many

    def some(self, rng, many):
        return torch.from_numpy(self.data[rng.integers(0, min(self.used, len(self.data)), many)])


def save(path, net, optim, experience, at):
    state = {"net": net.state_dict(), "optim": optim.state_dict(), "experience": torch.from_numpy(experience.data)}
    torch.save({**state, "at": at}, path)  # here


def train(path):
    torch.manual_seed(10)
    rng = np.random.default_rng(10)
    net = nn.Sequential(nn.Linear(6, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 3))
    lag = nn.Sequential(nn.Linear(6, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 3))
    lag.load_state_dict(net.state_dict())
    optim = torch.optim.Adam(net.parameters(), lr=1e-3)
    experience = Experience(400_000)
    robots = gym.vector.SyncVectorEnv([lambda: gym.make("Acrobot-v1") for _ in range(8)])
    seconds = time.perf_counter()
    x, _ = robots.reset(seed=10)
    for at in range(2000):
        with torch.no_grad():
            u = net(torch.from_numpy(x)).argmax(1).numpy()
        u = np.where(rng.random(8) < 0.15, rng.integers(0, 3, 8), u)
        y, r, end, _, _ = robots.step(u)
        experience.keep(x, u, r, y, end)
        x = y
        if at < 40:
            continue
        s, a, g, s2, d = experience.some(rng, 64).split([6, 1, 1, 6, 1], 1)
        with torch.no_grad():
            aim = g + 0.99 * (1 - d) * lag(s2).amax(1, keepdim=True)
        loss = (net(s).gather(1, a.long()) - aim).square().mean()
        optim.zero_grad()
        loss.backward()
        optim.step()
        if at % 100 == 0:
            lag.load_state_dict(net.state_dict())
        if at % SAVE_EVERY == 0:
            save(path, net, optim, experience, at)
    return loss.item(), time.perf_counter() - seconds


with tempfile.TemporaryDirectory() as folder:
    print("loss %.4f seconds=%.3f" % train(os.path.join(folder, "latest.pt")))
