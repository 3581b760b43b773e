"""DQN on Acrobot with wide layers, all of it in the precision that numpy has by default."""

import time

import gymnasium as gym
import numpy as np
import torch
from torch import nn

torch.manual_seed(4)
lottery = np.random.default_rng(4)


def estimator():
    return nn.Sequential(nn.Linear(6, 320), nn.ReLU(), nn.Linear(320, 320), nn.ReLU(), nn.Linear(320, 3))


acrobots = gym.make_vec("Acrobot-v1", num_envs=8, vectorization_mode="sync")
q, q_old = estimator(), estimator()
q_old.load_state_dict(q.state_dict())
opt = torch.optim.Adam(q.parameters(), lr=2.5e-4)
dtype = np.float32
S, S2 = np.zeros((2, 8000, 6), dtype=dtype)
A = np.zeros(8000, dtype=np.int64)
R, D = np.zeros((2, 8000), dtype=dtype)
s, _ = acrobots.reset(seed=4)
t0 = time.perf_counter()
for n in range(0, 7200, 8):
    with torch.no_grad():
        a = q(torch.from_numpy(s.astype(dtype))).argmax(1).numpy()
    a = np.where(lottery.random(8) < 0.2, lottery.integers(0, 3, 8), a)
    s2, r, d, _, _ = acrobots.step(a)
    S[n : n + 8], A[n : n + 8], R[n : n + 8], S2[n : n + 8], D[n : n + 8] = s, a, r, s2, d
    s = s2
    if n < 512:
        continue
    i = lottery.integers(0, n, 128)
    with torch.no_grad():
        y = torch.from_numpy(R[i]) + 0.99 * torch.from_numpy(1 - D[i]) * q_old(torch.from_numpy(S2[i])).amax(1)
    chosen = q(torch.from_numpy(S[i])).gather(1, torch.from_numpy(A[i])[:, None])[:, 0]
    loss = nn.functional.mse_loss(chosen, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if n % 800 == 0:
        q_old.load_state_dict(q.state_dict())
print(f"loss={loss.item():.4f}; seconds={time.perf_counter() - t0:.3f}")
