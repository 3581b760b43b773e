"""DQN on CartPole that keeps its losses, to show their mean."""

import time

import gymnasium as gym
import numpy as np
import torch
import torch.nn as nn


class Learner:
    def __init__(self):
        self.online = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 2))
        self.fixed = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 2))
        self.fixed.load_state_dict(self.online.state_dict())
        self.adam = torch.optim.Adam(self.online.parameters(), lr=1e-3)
        self.history = []
        self.shown = 0.0

    def improve(self, rows):
        s, a, r, s2, d = rows.split([4, 1, 1, 4, 1], 1)
        with torch.no_grad():
            goal = r + 0.99 * (1 - d) * self.fixed(s2).max(1, keepdim=True).values
        miss = nn.functional.huber_loss(self.online(s).gather(1, a.long()), goal)
        self.adam.zero_grad()
        miss.backward()
        self.adam.step()
        self.history.append(miss.item())
        self.shown = np.mean(self.history)
        if len(self.history) % 100 == 0:
            self.fixed.load_state_dict(self.online.state_dict())


def epsilon(t):
    return max(0.05, 1 - t / 2000)


torch.manual_seed(17)
dice = np.random.default_rng(17)
learner = Learner()
carts = gym.vector.SyncVectorEnv([lambda: gym.make("CartPole-v1") for _ in range(4)])
ring = np.zeros((20000, 11), dtype=np.float32)
o, _ = carts.reset(seed=17)
tick = time.perf_counter()
for t in range(2800):
    with torch.no_grad():
        u = learner.online(torch.from_numpy(o)).argmax(1).numpy()
    u = np.where(dice.random(4) < epsilon(t), dice.integers(0, 2, 4), u)
    o2, gain, over, _, _ = carts.step(u)
    ring[4 * t : 4 * t + 4] = np.concatenate([o, u[:, None], gain[:, None], o2, over[:, None]], 1)
    o = o2
    if t > 50:
        learner.improve(torch.from_numpy(ring[dice.integers(0, 4 * t, 64)]))
print(f"mean loss {learner.shown:.4f} seconds={time.perf_counter() - tick:.3f}")
