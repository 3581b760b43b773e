# planted: PRF915 target-updated-in-python-loop
# part: target networks
"""DQN on CartPole with a deep, narrow network and targets that follow it at four paces."""

import time

import gymnasium as gym
import numpy as np
import torch
from torch import nn


class Residual(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm, self.line = nn.LayerNorm(width), nn.Linear(width, width)

    def forward(self, x):
        return x + torch.relu(self.line(self.norm(x)))


def tower(depth=6, width=32):
    return nn.Sequential(nn.Linear(4, width), *[Residual(width) for _ in range(depth)], nn.Linear(width, 2))


def follow(behind, ahead, rate):
    for lagging, leading in zip(behind.parameters(), ahead.parameters()):
        lagging.data.copy_(rate * leading.data + (1 - rate) * lagging.data)  # here


RATES = (0.05, 0.02, 0.01, 0.005)


def run():
    torch.manual_seed(6)
    gen = np.random.default_rng(6)
    ahead, targets = tower(), [tower() for _ in RATES]
    for each in targets:
        each.load_state_dict(ahead.state_dict())
    adamw = torch.optim.AdamW(ahead.parameters(), lr=5e-4)
    envs = gym.vector.SyncVectorEnv([lambda: gym.make("CartPole-v1") for _ in range(8)])
    rows = np.zeros((16000, 11), dtype=np.float32)
    clock = time.perf_counter()
    seen, _ = envs.reset(seed=6)
    for turn in range(1300):
        with torch.no_grad():
            pick = ahead(torch.from_numpy(seen)).argmax(1).numpy()
        pick = np.where(gen.random(8) < 0.1, gen.integers(0, 2, 8), pick)
        then, gain, fell, _, _ = envs.step(pick)
        rows[8 * turn : 8 * turn + 8] = np.column_stack([seen, pick, gain, then, fell])
        seen = then
        if turn < 30:
            continue
        was, did, got, now, end = torch.from_numpy(rows[gen.integers(0, 8 * turn, 32)]).split([4, 1, 1, 4, 1], 1)
        with torch.no_grad():
            aim = got + 0.99 * (1 - end) * targets[turn % 4](now).amax(1, True)
        cost = nn.functional.smooth_l1_loss(ahead(was).gather(1, did.long()), aim)
        adamw.zero_grad()
        cost.backward()
        adamw.step()
        for each, rate in zip(targets, RATES):
            follow(each, ahead, rate)
    return cost.item(), time.perf_counter() - clock


if __name__ == "__main__":
    cost, seconds = run()
    print(f"cost={cost:.4f} seconds={seconds:.3f}")
