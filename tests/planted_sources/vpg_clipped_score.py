"""A vanilla policy gradient with a Gaussian policy and a buffer of spinning lists."""

import gymnasium as gym
import numpy as np
import torch
from torch import nn, optim
from torch.distributions import Normal


class Gaussian(nn.Module):
    def __init__(self, size, low, high):
        super().__init__()
        self.mean = nn.Sequential(nn.Linear(size, 64), nn.Tanh(), nn.Linear(64, len(low)))
        self.log_std = nn.Parameter(-0.5 * torch.ones(len(low)))
        self.register_buffer("low", torch.as_tensor(low))
        self.register_buffer("high", torch.as_tensor(high))

    def step(self, x):
        pi = Normal(self.mean(x), self.log_std.exp())
        drawn = pi.sample()
        sent = torch.clamp(drawn, self.low, self.high)
        score = pi.log_prob(sent).sum(-1)  # planted: clipped-before-log-prob
        # = score = pi.log_prob(drawn).sum(-1)
        return sent, score


def main(epochs=100, per_epoch=4000, gamma=0.99):
    env = gym.make("Pendulum-v1")
    policy = Gaussian(env.observation_space.shape[0], env.action_space.low, env.action_space.high)
    adam = optim.Adam(policy.parameters(), lr=3e-4)
    for epoch in range(epochs):
        scores, weights, rewards, totals = [], [], [], []
        seen, _ = env.reset(seed=epoch)
        while len(scores) < per_epoch:
            sent, score = policy.step(torch.as_tensor(seen))
            seen, reward, terminated, truncated, _ = env.step(sent.numpy())
            scores.append(score)
            rewards.append(reward)
            if terminated or truncated:
                totals.append(sum(rewards))
                sums = np.zeros(len(rewards))
                for t in reversed(range(len(rewards))):
                    sums[t] = rewards[t] + (gamma * sums[t + 1] if t + 1 < len(rewards) else 0.0)
                weights.extend(sums)
                rewards = []
                seen, _ = env.reset()
        used = torch.as_tensor(np.array(weights), dtype=torch.float32)
        used = (used - used.mean()) / (used.std() + 1e-8)
        loss = -(torch.stack(scores[: len(used)]) * used).mean()
        adam.zero_grad()
        loss.backward()
        adam.step()
        print(epoch, np.mean(totals))


if __name__ == "__main__":
    main()
