"""PPO for a robot arm with Gaussian actions."""

import numpy as np
import torch
import torch.nn as nn
from torch.distributions import Normal


class Arm(nn.Module):
    def __init__(self, n_obs, n_act):
        super().__init__()
        self.mean = nn.Sequential(nn.Linear(n_obs, 64), nn.Tanh(), nn.Linear(64, n_act))
        self.log_std = nn.Parameter(-0.5 * torch.ones(n_act))
        self.critic = nn.Sequential(nn.Linear(n_obs, 64), nn.Tanh(), nn.Linear(64, 1))

    def dist(self, obs):
        return Normal(self.mean(obs), self.log_std.exp())


def update(arm, optimizer, data, clip_range, epochs, batch):
    obs, act, logp_old, adv, ret = data
    rows = len(obs)
    for _ in range(epochs):
        for pick in np.array_split(np.random.permutation(rows), rows // batch):
            dist = arm.dist(obs[pick])
            logp = dist.log_prob(act[pick]).sum(-1)
            ratio = (logp - logp_old[pick]).exp()
            a = adv[pick]
            a = (a - a.mean()) / (a.std() + 1e-8)
            plain = -a * ratio
            bounded = -a * torch.clamp(ratio, 1.0 - clip_range, 1.0 + clip_range)
            pg = torch.min(plain, bounded).mean()  # planted: larger-surrogate-taken
            #= pg = torch.max(plain, bounded).mean()
            vf = 0.5 * (arm.critic(obs[pick]).squeeze(-1) - ret[pick]).pow(2).mean()
            loss = pg + 0.5 * vf - 0.001 * dist.entropy().sum(-1).mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(arm.parameters(), 0.5)
            optimizer.step()


def train(collect, n_obs, n_act, rounds):
    arm = Arm(n_obs, n_act)
    optimizer = torch.optim.Adam(arm.parameters(), lr=3e-4, eps=1e-5)
    for _ in range(rounds):
        with torch.no_grad():
            data = collect(arm)
        update(arm, optimizer, data, clip_range=0.2, epochs=10, batch=64)
    return arm
