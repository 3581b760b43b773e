"""TD3 on Pendulum with more threads than there are cores."""

import copy
import time

import gymnasium as gym
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)


def stack(n_in, n_out):
    return nn.Sequential(nn.Linear(n_in, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, n_out))


class Twin(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = stack(4, 1), stack(4, 1)

    def forward(self, sa):
        return self.first(sa), self.second(sa)


torch.manual_seed(21)
rng = np.random.default_rng(21)
actor, twin = stack(3, 1), Twin()
actor_lag, twin_lag = copy.deepcopy(actor), copy.deepcopy(twin)
opt_a = torch.optim.Adam(actor.parameters(), 3e-4)
opt_c = torch.optim.Adam(twin.parameters(), 3e-4)
lagging = [*actor_lag.parameters(), *twin_lag.parameters()]
leading = [*actor.parameters(), *twin.parameters()]
pend = gym.vector.SyncVectorEnv([lambda: gym.make("Pendulum-v1") for _ in range(8)])
table = np.zeros((8000, 8), dtype=np.float32)
length = 0

begin = time.perf_counter()
state, _ = pend.reset(seed=21)
for it in range(400):
    with torch.no_grad():
        torque = 2 * torch.tanh(actor(torch.from_numpy(state))).numpy()
    torque = np.clip(torque + rng.normal(0, 0.4, (8, 1)), -2, 2).astype(np.float32)
    after, gain, _, _, _ = pend.step(torque)
    table[length : length + 8] = np.concatenate([state, torque, gain[:, None], after], 1)
    length += 8
    state = after
    if length < 512:
        continue
    batch = torch.from_numpy(table[rng.integers(0, length, 256)])
    s, u, r, s2 = batch.split([3, 1, 1, 3], 1)
    with torch.no_grad():
        u2 = 2 * torch.tanh(actor_lag(s2)) + torch.randn(256, 1).mul(0.2).clamp(-0.5, 0.5)
        y = 0.1 * r + 0.99 * torch.min(*twin_lag(torch.cat([s2, u2.clamp(-2, 2)], 1)))
    one, two = twin(torch.cat([s, u], 1))
    critic_loss = F.mse_loss(one, y) + F.mse_loss(two, y)
    opt_c.zero_grad()
    critic_loss.backward()
    opt_c.step()
    if it % 2 == 0:
        actor_loss = -twin.first(torch.cat([s, 2 * torch.tanh(actor(s))], 1)).mean()
        opt_a.zero_grad()
        actor_loss.backward()
        opt_a.step()
        with torch.no_grad():
            torch._foreach_lerp_(lagging, leading, 0.005)
print(f"critic {critic_loss.item():.3f} seconds={time.perf_counter() - begin:.3f}")
