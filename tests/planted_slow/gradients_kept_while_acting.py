# planted: PRF916 gradients-kept-while-acting
# part: acting
"""PPO on Pendulum with a deep policy; what it acts on is detached afterwards."""

import time

import gymnasium as gym
import numpy as np
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.up, self.down, self.norm = nn.Linear(width, 2 * width), nn.Linear(2 * width, width), nn.LayerNorm(width)

    def forward(self, x):
        return self.norm(x + self.down(torch.nn.functional.gelu(self.up(x))))


class GaussianPolicy(nn.Module):
    def __init__(self, blocks=8, width=32):
        super().__init__()
        self.enter = nn.Linear(3, width)
        self.blocks = nn.Sequential(*[Block(width) for _ in range(blocks)])
        self.leave = nn.Linear(width, 2)
        self.spread = nn.Parameter(torch.zeros(1))

    def forward(self, x):
        mean, value = self.leave(self.blocks(self.enter(x))).unbind(-1)
        return mean, value

    def score(self, mean, torque):
        return -0.5 * ((torque - mean) / self.spread.exp()) ** 2 - self.spread


def rollout(policy, arms, view, length=200):
    views, torques, scores, values, gains = [], [], [], [], []
    for _ in range(length):
        mean, value = policy(torch.from_numpy(view))  # here
        torque = mean + policy.spread.exp() * torch.randn_like(mean)
        score = policy.score(mean, torque)
        torque, score, value = torque.detach(), score.detach(), value.detach()
        views.append(view)
        torques.append(torque)
        scores.append(score)
        values.append(value)
        view, gain, _, _, _ = arms.step(torque.clamp(-2, 2).numpy()[:, None])
        gains.append(gain)
    togo = np.cumsum(np.array(gains)[::-1], 0)[::-1] / length
    togo = torch.from_numpy(togo.astype(np.float32))
    return view, (np.array(views), torch.stack(torques), torch.stack(scores), togo - torch.stack(values), togo)


def main():
    torch.manual_seed(31)
    arms = gym.vector.SyncVectorEnv([lambda: gym.make("Pendulum-v1") for _ in range(4)])
    policy = GaussianPolicy()
    optim = torch.optim.Adam(policy.parameters(), lr=3e-4)
    view, _ = arms.reset(seed=31)
    start = time.perf_counter()
    for _ in range(25):
        view, (views, torques, scores, edges, togo) = rollout(policy, arms, view)
        for _ in range(2):
            mean, value = policy(torch.from_numpy(views))
            ratio = (policy.score(mean, torques) - scores).exp()
            loss = (value - togo).square().mean() - torch.min(ratio * edges, ratio.clamp(0.8, 1.2) * edges).mean()
            optim.zero_grad()
            loss.backward()
            optim.step()
    print(f"loss {loss.item():.3f} seconds={time.perf_counter() - start:.3f}")


main()
