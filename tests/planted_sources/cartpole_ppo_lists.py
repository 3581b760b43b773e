"""PPO in lists, for CartPole."""

import gymnasium as gym
import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical


class Ppo:
    def __init__(self, observations, actions, clip=0.2, epochs=6):
        self.pi = nn.Sequential(nn.Linear(observations, 64), nn.Tanh(), nn.Linear(64, actions))
        self.v = nn.Sequential(nn.Linear(observations, 64), nn.Tanh(), nn.Linear(64, 1))
        self.adam = torch.optim.Adam([*self.pi.parameters(), *self.v.parameters()], lr=1e-3)
        self.clip, self.epochs = clip, epochs
        self.states, self.actions, self.scores, self.rewards = [], [], [], []

    def act(self, state):
        state = torch.as_tensor(state)
        dist = Categorical(logits=self.pi(state))
        action = dist.sample()
        self.states.append(state)
        self.actions.append(action)
        self.scores.append(dist.log_prob(action))  # planted: old-log-prob-keeps-graph
        # = self.scores.append(dist.log_prob(action).detach())
        return action.item()

    def learn(self, gamma=0.99):
        returns, ahead = np.zeros(len(self.rewards), np.float32), 0.0
        for step in reversed(range(len(self.rewards))):
            ahead = self.rewards[step] + gamma * ahead
            returns[step] = ahead
        returns = torch.from_numpy(returns)
        states, actions, old = torch.stack(self.states), torch.stack(self.actions), torch.stack(self.scores)
        for _ in range(self.epochs):
            values = self.v(states).squeeze(-1)
            advantages = (returns - values).detach()
            ratio = (Categorical(logits=self.pi(states)).log_prob(actions) - old).exp()
            clipped = ratio.clamp(1 - self.clip, 1 + self.clip)
            loss = -torch.min(ratio * advantages, clipped * advantages).mean()
            loss = loss + 0.5 * (returns - values).pow(2).mean()
            self.adam.zero_grad()
            loss.backward()
            self.adam.step()
        for each in (self.states, self.actions, self.scores, self.rewards):
            each.clear()


env = gym.make("CartPole-v1")
agent = Ppo(4, 2)
for episode in range(400):
    state, _ = env.reset(seed=episode)
    over = False
    while not over:
        state, reward, terminated, truncated, _ = env.step(agent.act(state))
        agent.rewards.append(float(reward))
        over = terminated or truncated
    agent.learn()
