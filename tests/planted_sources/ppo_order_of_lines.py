"""PPO with advantages that are normalised per minibatch; a driving task."""

import torch
import torch.nn as nn
from torch.distributions import Beta


class Driver(nn.Module):
    def __init__(self, n_obs, n_act):
        super().__init__()
        self.base = nn.Sequential(nn.Linear(n_obs, 100), nn.ReLU())
        self.alpha = nn.Sequential(nn.Linear(100, n_act), nn.Softplus())
        self.beta = nn.Sequential(nn.Linear(100, n_act), nn.Softplus())
        self.critic = nn.Linear(100, 1)

    def forward(self, obs):
        h = self.base(obs)
        return Beta(self.alpha(h) + 1, self.beta(h) + 1), self.critic(h).squeeze(-1)


class Coach:
    clip = 0.1
    epochs = 10
    batch = 128

    def __init__(self, driver):
        self.driver = driver
        self.optimizer = torch.optim.Adam(driver.parameters(), lr=1e-3)

    def teach(self, obs, act, logp_before, advantage, target):
        for _ in range(self.epochs):
            for rows in torch.randperm(len(obs)).split(self.batch):
                dist, value = self.driver(obs[rows])
                logp = dist.log_prob(act[rows]).sum(-1)
                ratio = torch.exp(logp - logp_before[rows])
                adv = advantage[rows]
                free = ratio * adv
                adv = (adv - adv.mean()) / (adv.std() + 1e-8)  # planted: normalised-between-uses
                #=
                #+ adv = (adv - adv.mean()) / (adv.std() + 1e-8)
                #+ free = ratio * adv
                held = torch.clamp(ratio, 1 - self.clip, 1 + self.clip) * adv
                loss = -torch.min(free, held).mean() + nn.functional.smooth_l1_loss(value, target[rows])
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
