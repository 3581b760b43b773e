"""REINFORCE for a hopper; each score weighs the return that followed."""

import gymnasium as gym
import numpy as np
import torch
import torch.nn as nn
from torch.distributions.normal import Normal


class PolicyNetwork(nn.Module):
    def __init__(self, obs_dims, action_dims):
        super().__init__()
        self.shared = nn.Sequential(nn.Linear(obs_dims, 32), nn.Tanh())
        self.means = nn.Linear(32, action_dims)
        self.log_stds = nn.Parameter(torch.zeros(action_dims))

    def forward(self, x):
        deviation = self.log_stds.exp()
        return Normal(self.means(self.shared(x)), deviation.exp())  # planted: exponential-taken-twice
        #= return Normal(self.means(self.shared(x)), deviation)


class REINFORCE:
    def __init__(self, obs_dims, action_dims, gamma=0.99):
        self.gamma = gamma
        self.net = PolicyNetwork(obs_dims, action_dims)
        self.optimizer = torch.optim.AdamW(self.net.parameters(), lr=1e-3)
        self.scores, self.rewards = [], []

    def sample_action(self, state):
        dist = self.net(torch.as_tensor(state, dtype=torch.float32))
        action = dist.sample()
        self.scores.append(dist.log_prob(action).sum())
        return action.numpy()

    def update(self):
        running, returns = 0.0, []
        for r in self.rewards[::-1]:
            running = r + self.gamma * running
            returns.insert(0, running)
        weights = torch.tensor(returns)
        scores = torch.stack(self.scores)
        loss = -(scores * weights).sum()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.scores, self.rewards = [], []


def main():
    env = gym.make("Hopper-v5")
    agent = REINFORCE(env.observation_space.shape[0], env.action_space.shape[0])
    totals = []
    for episode in range(2000):
        obs, _ = env.reset(seed=episode)
        done = False
        while not done:
            action = agent.sample_action(obs)
            obs, reward, terminated, truncated, _ = env.step(action)
            agent.rewards.append(reward)
            done = terminated or truncated
        totals.append(sum(agent.rewards))
        agent.update()
    print(np.mean(totals[-100:]))


if __name__ == "__main__":
    main()
