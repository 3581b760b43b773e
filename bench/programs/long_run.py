"""A cheap environment and a tiny network, for long: prints how much memory it takes. python long_run.py STEPS"""

import os
import sys

import gymnasium as gym
import numpy as np
import torch
from torch import nn


class Drift(gym.Env):
    observation_space = gym.spaces.Box(-10, 10, (3,), np.float32)
    action_space = gym.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.at, self.left = self.np_random.normal(size=3).astype(np.float32), 50
        return self.at, {}

    def step(self, action):
        self.at = self.at * np.float32(0.99) + np.float32(action - 0.5)
        self.left -= 1
        return self.at, float(self.at[0]), False, self.left == 0, {}


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def main(steps):
    torch.set_num_threads(1)
    torch.manual_seed(1)
    env = Drift()
    net = nn.Linear(3, 2)
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-4)
    obs, _ = env.reset(seed=1)
    for step in range(steps + 1):
        if step % 2 == 0:
            values = net(torch.from_numpy(obs))
            loss = (values[step % 4 // 2] - 1.0).square()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        obs, _, _, over, _ = env.step(step % 2)
        if over:
            obs, _ = env.reset()
        if step % max(steps // 20, 1) == 0:
            print(f"step {step} {resident():.1f} MiB", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]))
