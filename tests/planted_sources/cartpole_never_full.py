"""Actor-critic, one update for each episode."""

import gymnasium as gym
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Categorical


class Both(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Linear(4, 128)
        self.choice = nn.Linear(128, 2)
        self.worth = nn.Linear(128, 1)

    def forward(self, x):
        x = F.relu(self.trunk(x))
        return self.choice(x), self.worth(x).squeeze(-1)


class Trainer:
    def __init__(self, gamma=0.99):
        self.env = gym.make("CartPole-v1")
        self.net = Both()
        self.adam = torch.optim.Adam(self.net.parameters(), lr=3e-3)
        self.gamma = gamma

    def episode(self):
        logps, values, rewards = [], [], []
        x, _ = self.env.reset()
        over = False
        while not over:
            scores, value = self.net(torch.from_numpy(x))
            pi = Categorical(logits=scores)
            move = pi.sample()
            x, reward, over, _, _ = self.env.step(move.item())  # planted: time-limit-flag-ignored
            # = x, reward, terminated, truncated, _ = self.env.step(move.item())
            # + over = terminated or truncated
            logps.append(pi.log_prob(move))
            values.append(value)
            rewards.append(reward)
        return logps, values, rewards

    def learn(self):
        logps, values, rewards = self.episode()
        goals, total = [], 0.0
        for reward in rewards[::-1]:
            total = reward + self.gamma * total
            goals.insert(0, total)
        goals, values = torch.tensor(goals), torch.stack(values)
        better = goals - values.detach()
        loss = -(torch.stack(logps) * better).sum() + F.smooth_l1_loss(values, goals, reduction="sum")
        self.adam.zero_grad()
        loss.backward()
        self.adam.step()
        return sum(rewards)


if __name__ == "__main__":
    trainer = Trainer()
    for number in range(600):
        print(number, trainer.learn())
