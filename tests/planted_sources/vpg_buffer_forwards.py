"""Vanilla policy gradient with a rollout buffer."""

import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical


class Rollout:
    def __init__(self, gamma):
        self.gamma = gamma
        self.obs, self.act, self.rew, self.ret = [], [], [], []
        self.start = 0

    def add(self, obs, act, rew):
        self.obs.append(obs)
        self.act.append(act)
        self.rew.append(rew)

    def close_episode(self, last_value=0.0):
        path = self.rew[self.start :]
        sums = []
        acc = last_value
        for r in path:  # planted: sum-carried-forwards
        #= for r in reversed(path):
            acc = r + self.gamma * acc
            sums.insert(0, acc)
        self.ret.extend(sums)
        self.start = len(self.rew)

    def tensors(self):
        ret = torch.tensor(np.array(self.ret), dtype=torch.float32)
        ret = (ret - ret.mean()) / (ret.std() + 1e-8)
        return torch.tensor(np.array(self.obs), dtype=torch.float32), torch.tensor(self.act), ret


def collect(env, policy, steps, gamma):
    rollout = Rollout(gamma)
    obs, _ = env.reset()
    for _ in range(steps):
        with torch.no_grad():
            act = Categorical(logits=policy(torch.as_tensor(obs, dtype=torch.float32))).sample().item()
        nxt, rew, term, trunc, _ = env.step(act)
        rollout.add(obs, act, rew)
        obs = nxt
        if term or trunc:
            rollout.close_episode()
            obs, _ = env.reset()
    rollout.close_episode()
    return rollout.tensors()


def train(env, n_obs, n_act, epochs=100):
    policy = nn.Sequential(nn.Linear(n_obs, 64), nn.Tanh(), nn.Linear(64, n_act))
    optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
    env.reset(seed=11)
    for _ in range(epochs):
        obs, act, ret = collect(env, policy, 4000, 0.99)
        loss = -(Categorical(logits=policy(obs)).log_prob(act) * ret).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return policy
