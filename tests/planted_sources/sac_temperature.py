"""Soft actor-critic with a temperature that is learned."""

import copy

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Normal


class Squashed(nn.Module):
    def __init__(self, n_obs, n_act):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(n_obs, 256), nn.ReLU(), nn.Linear(256, 2 * n_act))

    def forward(self, obs):
        mean, log_std = self.net(obs).chunk(2, dim=-1)
        normal = Normal(mean, log_std.clamp(-10, 2).exp())
        u = normal.rsample()
        a = torch.tanh(u)
        score = (normal.log_prob(u) - torch.log(1 - a.pow(2) + 1e-6)).sum(-1, keepdim=True)
        return a, score


class Judge(nn.Module):
    def __init__(self, n_obs, n_act):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(n_obs + n_act, 256), nn.ReLU(), nn.Linear(256, 1))

    def forward(self, obs, act):
        return self.net(torch.cat([obs, act], dim=-1))


class Sac:
    def __init__(self, n_obs, n_act, gamma=0.99, tau=0.005, lr=3e-4):
        self.actor, self.judge = Squashed(n_obs, n_act), Judge(n_obs, n_act)
        self.slow = copy.deepcopy(self.judge)
        self.log_temp = torch.zeros(1, requires_grad=True)
        self.wanted = -float(n_act)
        self.gamma, self.tau = gamma, tau
        self.actor_opt = torch.optim.Adam(self.actor.parameters(), lr=lr)
        self.judge_opt = torch.optim.Adam(self.judge.parameters(), lr=lr)
        self.temp_opt = torch.optim.Adam([self.log_temp], lr=lr)

    def update(self, obs, act, rew, nxt, end):
        temp = self.log_temp.exp().detach()
        with torch.no_grad():
            nxt_act, nxt_score = self.actor(nxt)
            y = rew + self.gamma * (1 - end) * (self.slow(nxt, nxt_act) - temp * nxt_score)
        judge_loss = F.mse_loss(self.judge(obs, act), y)
        self.judge_opt.zero_grad()
        judge_loss.backward()
        self.judge_opt.step()

        new, score = self.actor(obs)
        actor_loss = (temp * score - self.judge(obs, new)).mean()
        self.actor_opt.zero_grad()
        actor_loss.backward()
        self.actor_opt.step()

        _, score = self.actor(obs)
        temp_loss = -(self.log_temp.exp() * (score + self.wanted)).mean()  # planted: temperature-drags-policy
        #= temp_loss = -(self.log_temp.exp() * (score + self.wanted).detach()).mean()
        self.temp_opt.zero_grad()
        temp_loss.backward()
        self.temp_opt.step()
        with torch.no_grad():
            for s, f in zip(self.slow.parameters(), self.judge.parameters()):
                s.lerp_(f, self.tau)
