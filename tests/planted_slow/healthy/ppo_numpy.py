"""PPO on Pendulum: eight environments, advantages in numpy for all of them at once."""

import time

import gymnasium as gym
import numpy as np
import torch
from torch import nn

LANES, LENGTH, ROUNDS = 8, 200, 40


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 2))
        self.spread = nn.Parameter(torch.zeros(1))

    def forward(self, x):
        mean, value = self.body(x).unbind(-1)
        return mean, value

    def score(self, mean, torque):
        return -0.5 * ((torque - mean) / self.spread.exp()) ** 2 - self.spread


def estimate(gains, values, gamma=0.95, lam=0.9):
    edges, carried = np.empty_like(gains), np.zeros(LANES, dtype=np.float32)
    for t in range(LENGTH - 1, -1, -1):
        carried = gains[t] + gamma * values[t + 1] - values[t] + gamma * lam * carried
        edges[t] = carried
    return edges


torch.manual_seed(2)
policy = Policy()
optim = torch.optim.Adam(policy.parameters(), lr=3e-4)
arms = gym.make_vec("Pendulum-v1", num_envs=LANES, vectorization_mode="sync")
views = np.zeros((LENGTH, LANES, 3), dtype=np.float32)
torques, scores, gains = np.zeros((3, LENGTH, LANES), dtype=np.float32)
values = np.zeros((LENGTH + 1, LANES), dtype=np.float32)
view, _ = arms.reset(seed=2)
begin = time.perf_counter()
for _ in range(ROUNDS):
    for t in range(LENGTH):
        with torch.no_grad():
            mean, value = policy(torch.from_numpy(view))
            torque = mean + policy.spread.exp() * torch.randn_like(mean)
            scores[t] = policy.score(mean, torque)
        views[t], values[t], torques[t] = view, value, torque
        view, gain, _, _, _ = arms.step(np.clip(torques[t, :, None], -2, 2))
        gains[t] = 0.1 * gain
    with torch.no_grad():
        values[LENGTH] = policy(torch.from_numpy(view))[1]
    edge = estimate(gains, values)
    x, u, old, e, goal = (torch.from_numpy(each) for each in (views, torques, scores, edge, edge + values[:-1]))
    for _ in range(10):
        for rows in torch.randperm(LENGTH).split(50):
            mean, value = policy(x[rows])
            ratio = (policy.score(mean, u[rows]) - old[rows]).exp()
            gained = torch.min(ratio * e[rows], ratio.clamp(0.8, 1.2) * e[rows]).mean()
            loss = (value - goal[rows]).square().mean() - gained
            optim.zero_grad()
            loss.backward()
            optim.step()
print(f"loss {loss.item():.3f} seconds={time.perf_counter() - begin:.3f}")
