"""Deep SARSA on LunarLander, one step at a time."""

import gymnasium as gym
import numpy as np
import torch
from torch import nn


class SarsaAgent:
    def __init__(self, observations, actions, rate=5e-4, discount=0.99):
        self.q = nn.Sequential(nn.Linear(observations, 64), nn.ReLU(), nn.Linear(64, actions))
        self.optim = torch.optim.SGD(self.q.parameters(), lr=rate, momentum=0.9)
        self.discount = discount
        self.actions = actions
        self.greed = 0.0

    def choose(self, seen):
        if np.random.rand() > self.greed:
            return np.random.randint(self.actions)
        with torch.no_grad():
            return int(self.q(torch.from_numpy(seen)).argmax())

    def learn(self, seen, action, reward, after, next_action, over):
        with torch.no_grad():
            future = 0.0 if over else self.q(torch.from_numpy(after))[next_action]
        wanted = reward + self.discount * future
        error = (self.q(torch.from_numpy(seen))[action] - wanted) ** 2
        # + self.optim.zero_grad()
        error.backward()
        self.optim.zero_grad()  # planted: cleared-before-step
        self.optim.step()


def play(episodes=600):
    env = gym.make("LunarLander-v3")
    agent = SarsaAgent(8, 4)
    for episode in range(episodes):
        agent.greed = min(0.98, episode / 300)
        seen, _ = env.reset(seed=episode)
        action, over, cut = agent.choose(seen), False, False
        while not (over or cut):
            after, reward, over, cut, _ = env.step(action)
            next_action = agent.choose(after)
            agent.learn(seen, action, reward, after, next_action, over)
            seen, action = after, next_action


play()
