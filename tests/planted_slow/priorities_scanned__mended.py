"""Prioritised DQN on CartPole with four environments."""

import time

import gymnasium as gym
import numpy as np
import torch
import torch.nn as nn

from rldebug.parts.buffers import PrioritisedReplay

CAPACITY, BATCH, LANES = 60_000, 32, 4


class PrioritisedMemory:
    def __init__(self):
        box = gym.spaces.Box(-np.inf, np.inf, (4,), np.float32)
        self.inner = PrioritisedReplay(CAPACITY, box, gym.spaces.Discrete(2), envs=LANES, seed=5)

    def add(self, *row):
        self.inner.add(*row)

    def sample(self):
        b = self.inner.sample(BATCH)
        return b.index, [b.obs, b.action.float(), b.reward, b.next_obs, b.discount, b.weight]

    def renew(self, rows, errors):
        self.inner.update(rows, errors)


np.random.seed(5)
torch.manual_seed(5)
envs = gym.vector.SyncVectorEnv([lambda: gym.make("CartPole-v1") for _ in range(LANES)])
q = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2))
q_slow = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2))
q_slow.load_state_dict(q.state_dict())
optimiser = torch.optim.Adam(q.parameters(), lr=5e-4)
memory = PrioritisedMemory()
warm = PrioritisedMemory()
s, _ = envs.reset(seed=5)
warm.add(s, np.zeros(4, int), np.zeros(4), s, np.zeros(4, bool), np.zeros(4, bool))
warm.renew(warm.sample()[0], torch.ones(BATCH))

tic = time.perf_counter()
for i in range(9000):
    if i < 7000:  # a long time of chance, which fills the memory
        a = np.random.randint(0, 2, LANES)
    else:
        with torch.no_grad():
            a = q(torch.from_numpy(s)).argmax(1).numpy()
        lucky = np.random.rand(LANES) < 0.1
        a[lucky] = np.random.randint(0, 2, lucky.sum())
    s2, r, ended, cut, _ = envs.step(a)
    memory.add(s, a, r, s2, ended, cut)
    s = s2
    if i < 7000:
        continue
    rows, (bs, ba, br, bs2, bg, w) = memory.sample()
    with torch.no_grad():
        best = q(bs2).argmax(1, keepdim=True)
        y = br + bg * q_slow(bs2).gather(1, best).squeeze(1)
    delta = y - q(bs).gather(1, ba.long().unsqueeze(1)).squeeze(1)
    loss = (w * delta.pow(2)).mean()
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()
    memory.renew(rows, delta.detach().abs())
    if i % 200 == 0:
        q_slow.load_state_dict(q.state_dict())
print(f"{loss.item():.4f} seconds={time.perf_counter() - tic:.3f}")
