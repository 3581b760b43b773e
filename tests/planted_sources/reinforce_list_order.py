"""REINFORCE with a value baseline, for a corridor of doors."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Categorical


class Doors(nn.Module):
    def __init__(self, width, doors):
        super().__init__()
        self.eye = nn.Sequential(nn.Linear(width, 48), nn.ELU())
        self.choice = nn.Linear(48, doors)
        self.worth = nn.Linear(48, 1)

    def forward(self, view):
        seen = self.eye(view)
        return Categorical(logits=self.choice(seen)), self.worth(seen).squeeze(-1)


class Walker:
    def __init__(self, net, lr=1e-3, discount=0.97):
        self.net = net
        self.discount = discount
        self.optim = torch.optim.Adam(net.parameters(), lr=lr)
        self.forget()

    def forget(self):
        self.log_probs, self.worths, self.rewards = [], [], []

    def walk(self, corridor):
        view, _ = corridor.reset()
        out = False
        while not out:
            dist, worth = self.net(torch.as_tensor(view, dtype=torch.float32))
            door = dist.sample()
            self.log_probs.append(dist.log_prob(door))
            self.worths.append(worth)
            view, reward, terminated, truncated, _ = corridor.step(door.item())
            self.rewards.append(float(reward))
            out = terminated or truncated

    def learn(self):
        credit, sums = 0.0, []
        for reward in reversed(self.rewards):
            credit = reward + self.discount * credit
            sums.append(credit)  # planted: returns-left-reversed
            #= sums.insert(0, credit)
        sums = torch.tensor(sums)
        worths = torch.stack(self.worths)
        surprise = sums - worths.detach()
        loss = -(torch.stack(self.log_probs) * surprise).mean() + F.mse_loss(worths, sums)
        self.optim.zero_grad()
        loss.backward()
        self.optim.step()
        self.forget()
