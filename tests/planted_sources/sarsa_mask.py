"""Expected SARSA with a small network, one transition after the other."""

import numpy as np
import torch
import torch.nn as nn


class Expected:
    def __init__(self, n_obs, n_act, eps=0.1, gamma=0.95, lr=1e-3):
        self.q = nn.Sequential(nn.Linear(n_obs, 50), nn.ReLU(), nn.Linear(50, n_act))
        self.optimizer = torch.optim.SGD(self.q.parameters(), lr=lr)
        self.eps, self.gamma, self.n_act = eps, gamma, n_act
        self.rng = np.random.default_rng(5)

    def chances(self, obs):
        with torch.no_grad():
            values = self.q(torch.as_tensor(obs, dtype=torch.float32))
        out = torch.full((self.n_act,), self.eps / self.n_act)
        out[values.argmax()] += 1 - self.eps
        return out

    def act(self, obs):
        return int(self.rng.choice(self.n_act, p=self.chances(obs).double().numpy()))

    def learn(self, obs, act, reward, after, over):
        with torch.no_grad():
            following = self.q(torch.as_tensor(after, dtype=torch.float32))
            expected = (self.chances(after) * following).sum()
            goal = reward + self.gamma * over * expected  # planted: end-flag-not-inverted
            #= goal = reward + self.gamma * (1 - over) * expected
        guess = self.q(torch.as_tensor(obs, dtype=torch.float32))[act]
        loss = (guess - goal) ** 2
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


def train(env, agent, episodes):
    totals = []
    for episode in range(episodes):
        obs, _ = env.reset(seed=episode)
        total, finished = 0.0, False
        while not finished:
            act = agent.act(obs)
            after, reward, terminated, truncated, _ = env.step(act)
            agent.learn(obs, act, reward, after, float(terminated))
            obs, total = after, total + reward
            finished = terminated or truncated
        totals.append(total)
    return totals
