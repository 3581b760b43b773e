# planted: PRF914 networks-in-python-loop
# part: loss
"""Bootstrapped DQN on Acrobot, functional: sixteen value functions, each with its own mask of the batch."""

import time

import gymnasium as gym
import numpy as np
import torch
import torch.nn.functional as F

HEADS, WIDTH, BATCH = 16, 48, 32


def draw(*shape):
    return (torch.randn(*shape) / shape[-2] ** 0.5 if len(shape) > 1 else torch.zeros(*shape)).requires_grad_()


def fresh():
    return [[draw(6, WIDTH), draw(WIDTH), draw(WIDTH, 3), draw(3)] for _ in range(HEADS)]


def head(theta, x):
    return F.relu(x @ theta[0] + theta[1]) @ theta[2] + theta[3]


def values(thetas, x):
    return torch.stack([head(theta, x) for theta in thetas])  # here


def flat(thetas):
    return [each for theta in thetas for each in theta]


def loss_of(thetas, lagged, batch, masks):
    s, a, r, s2, d = batch.split([6, 1, 1, 6, 1], 1)
    with torch.no_grad():
        goal = r.T + 0.99 * (1 - d.T) * values(lagged, s2).amax(2)
    guess = values(thetas, s).gather(2, a.long().expand(HEADS, BATCH, 1)).squeeze(2)
    return (masks * (guess - goal).square()).sum() / BATCH


torch.manual_seed(2)
rng = np.random.default_rng(2)
thetas, lagged = fresh(), fresh()
solver = torch.optim.Adam(flat(thetas), lr=1e-3)
robots = gym.vector.SyncVectorEnv([lambda: gym.make("Acrobot-v1") for _ in range(4)])
log = np.zeros((8000, 15), dtype=np.float32)
t_begin = time.perf_counter()
s, _ = robots.reset(seed=2)
for i in range(900):
    with torch.no_grad():
        opinion = values(thetas, torch.from_numpy(s))
    a = opinion[i // 50 % HEADS].argmax(1).numpy()
    s2, r, d, _, _ = robots.step(a)
    log[4 * i : 4 * i + 4] = np.hstack([s, a[:, None], r[:, None], s2, d[:, None]])
    s = s2
    if i < 20:
        continue
    batch = torch.from_numpy(log[rng.integers(0, 4 * i, BATCH)])
    loss = loss_of(thetas, lagged, batch, torch.bernoulli(torch.full((HEADS, BATCH), 0.5)))
    solver.zero_grad()
    loss.backward()
    solver.step()
    if i % 100 == 0:
        with torch.no_grad():
            torch._foreach_copy_(flat(lagged), flat(thetas))
print(f"{loss.item():.4f}, seconds={time.perf_counter() - t_begin:.3f}")
