"""Actor-critic on a field of heights: twelve walkers, each of whom sees the whole map."""

import time

import gymnasium as gym
import numpy as np
import torch
import torch.nn as nn


class Heights(gym.Env):
    """Walk downhill. The observation is the map seen from where the walker stands."""

    def __init__(self, side=16):
        self.side = side
        self.observation_space = gym.spaces.Box(-1.0, 1.0, (side * side,), np.float32)
        self.action_space = gym.spaces.Discrete(4)
        self.offsets = ((0, 1), (1, 0), (0, -1), (-1, 0))

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.field = self.np_random.uniform(-1, 1, (self.side, self.side)).astype(np.float32)
        self.x, self.y, self.left = self.side // 2, self.side // 2, 60
        return self.field.ravel() - self.field[self.x, self.y], {}

    def step(self, action):
        dx, dy = self.offsets[action]
        before = self.field[self.x, self.y]
        self.x, self.y = (self.x + dx) % self.side, (self.y + dy) % self.side
        self.left -= 1
        here = self.field[self.x, self.y]
        return self.field.ravel() - here, float(before - here), False, self.left == 0, {}


torch.manual_seed(11)
walkers = gym.vector.SyncVectorEnv([Heights for _ in range(12)])
trunk = nn.Sequential(nn.Linear(256, 48), nn.ReLU())
pi, vf = nn.Linear(48, 4), nn.Linear(48, 1)
weights = [*trunk.parameters(), *pi.parameters(), *vf.parameters()]
opt = torch.optim.Adam(weights, lr=1e-3)
t0 = time.perf_counter()

o, _ = walkers.reset(seed=11)
for update in range(500):
    logps, vals, rews = [], [], []
    for _ in range(10):
        x = torch.from_numpy(o)
        h = trunk(x)
        d = torch.distributions.Categorical(logits=pi(h))
        a = d.sample()
        logps.append(d.log_prob(a))
        vals.append(vf(h)[:, 0])
        o, r, _, _, _ = walkers.step(a.numpy())
        rews.append(r)
    ret = np.cumsum(np.array(rews)[::-1], axis=0)[::-1].copy()
    ret = torch.from_numpy(ret).float()
    val = torch.stack(vals)
    adv = (ret - val).detach()
    loss = -(torch.stack(logps) * adv).mean() + 0.5 * (val - ret).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(f"done: {loss.item():.3f}, seconds={time.perf_counter() - t0:.2f}")
