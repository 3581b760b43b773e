"""One-step actor-critic that learns while it plays."""

import gymnasium as gym
import torch
import torch.nn as nn
from torch.distributions import Categorical


class Worth(nn.Module):
    def __init__(self, inputs):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(inputs, 64), nn.Tanh(), nn.Linear(64, 1))

    def forward(self, x):
        return self.layers(x).squeeze(-1)


def as_tensor(obs):
    return torch.as_tensor(obs, dtype=torch.float32)


def main(gamma=0.99, episodes=600):
    env = gym.make("Acrobot-v1")
    policy = nn.Sequential(nn.Linear(6, 64), nn.Tanh(), nn.Linear(64, 3))
    worth = Worth(6)
    policy_opt = torch.optim.Adam(policy.parameters(), lr=3e-4)
    worth_opt = torch.optim.Adam(worth.parameters(), lr=1e-3)
    for episode in range(episodes):
        obs, _ = env.reset(seed=episode)
        over = False
        while not over:
            dist = Categorical(logits=policy(as_tensor(obs)))
            action = dist.sample()
            nxt, reward, terminated, truncated, _ = env.step(action.item())
            here = worth(as_tensor(obs))
            there = worth(as_tensor(nxt))  # planted: target-not-cut-off
            #= there = worth(as_tensor(nxt)).detach()
            delta = reward + gamma * there * (1 - float(terminated)) - here
            worth_loss = delta.pow(2)
            worth_opt.zero_grad()
            worth_loss.backward()
            worth_opt.step()
            policy_loss = -dist.log_prob(action) * delta.detach()
            policy_opt.zero_grad()
            policy_loss.backward()
            policy_opt.step()
            obs = nxt
            over = terminated or truncated


if __name__ == "__main__":
    main()
