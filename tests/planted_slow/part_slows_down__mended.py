"""PPO on CartPole that normalises rewards with all that it has ever seen."""

import time

import gymnasium as gym
import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical


class RewardScale:
    """The spread of returns so far."""

    def __init__(self, lanes):
        self.running = np.zeros(lanes)
        self.count, self.mean, self.square = 0, 0.0, 0.0

    def __call__(self, reward, ended):
        self.running = 0.99 * self.running * ~ended + reward
        new = self.running.mean()
        self.count += 1
        shift = new - self.mean
        self.mean += shift / self.count
        self.square += shift * (new - self.mean)
        return reward / ((self.square / self.count) ** 0.5 + 1e-3)


class Mind(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh())
        self.policy, self.critic = nn.Linear(64, 2), nn.Linear(64, 1)

    def forward(self, x):
        h = self.trunk(x)
        return Categorical(logits=self.policy(h)), self.critic(h).squeeze(-1)


def main(lanes=8, length=32, iterations=360):
    torch.manual_seed(3)
    carts = gym.vector.SyncVectorEnv([lambda: gym.make("CartPole-v1") for _ in range(lanes)])
    mind, scale = Mind(), RewardScale(lanes)
    adam = torch.optim.Adam(mind.parameters(), lr=3e-4)
    states = np.zeros((length, lanes, 4), dtype=np.float32)
    picks, olds, goals, values, keeps = torch.zeros(5, length, lanes)
    begin = time.perf_counter()
    state, _ = carts.reset(seed=3)
    for _ in range(iterations):
        rewards = np.zeros((length, lanes))
        for k in range(length):
            states[k] = state
            with torch.no_grad():
                dist, values[k] = mind(torch.from_numpy(state))
                picks[k] = dist.sample()
                olds[k] = dist.log_prob(picks[k])
            state, reward, dead, cut, _ = carts.step(picks[k].numpy().astype(np.int64))
            rewards[k] = scale(reward, dead | cut)
            keeps[k] = torch.from_numpy(~(dead | cut))
        with torch.no_grad():
            tail = mind(torch.from_numpy(state))[1]
        scaled = torch.from_numpy(rewards).float()
        for k in range(length - 1, -1, -1):
            tail = scaled[k] + 0.99 * keeps[k] * tail
            goals[k] = tail
        edge = goals - values
        for _ in range(4):
            dist, value = mind(torch.from_numpy(states))
            ratio = (dist.log_prob(picks) - olds).exp()
            loss = (value - goals).square().mean() - torch.min(ratio * edge, ratio.clamp(0.8, 1.2) * edge).mean()
            adam.zero_grad()
            loss.backward()
            adam.step()
    print(f"loss {loss.item():.4f} seconds={time.perf_counter() - begin:.3f}")


if __name__ == "__main__":
    main()
