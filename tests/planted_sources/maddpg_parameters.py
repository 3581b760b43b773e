"""One agent of a multi-agent DDPG, with a common critic."""

import copy
from itertools import chain

import torch
import torch.nn as nn


class Member:
    def __init__(self, own, everything, actions, rate=0.01, gamma=0.95):
        self.policy = nn.Sequential(nn.Linear(own, 64), nn.ReLU(), nn.Linear(64, actions), nn.Tanh())
        self.judge = nn.Sequential(nn.Linear(everything, 64), nn.ReLU(), nn.Linear(64, 1))
        self.policy_past = copy.deepcopy(self.policy)
        self.judge_past = copy.deepcopy(self.judge)
        self.policy_optim = torch.optim.Adam(self.policy.parameters(), lr=1e-3)
        weights = chain(self.judge.parameters(), self.judge_past.parameters())  # planted: target-handed-to-optimizer
        #= weights = self.judge.parameters()
        self.judge_optim = torch.optim.Adam(weights, lr=1e-3, weight_decay=1e-4)
        self.rate, self.gamma = rate, gamma

    def judge_step(self, seen, seen_after, reward, ended):
        with torch.no_grad():
            goal = reward + self.gamma * (1 - ended) * self.judge_past(seen_after)
        loss = nn.functional.mse_loss(self.judge(seen), goal)
        self.judge_optim.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.judge.parameters(), 0.5)
        self.judge_optim.step()
        return loss.item()

    def policy_step(self, own, join):
        loss = -self.judge(join(self.policy(own))).mean()
        self.policy_optim.zero_grad()
        loss.backward()
        self.policy_optim.step()
        return loss.item()

    @torch.no_grad()
    def move_on(self):
        for past, now in ((self.policy_past, self.policy), (self.judge_past, self.judge)):
            for p, n in zip(past.parameters(), now.parameters()):
                p.mul_(1 - self.rate).add_(n, alpha=self.rate)
