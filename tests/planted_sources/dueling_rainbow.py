"""A dueling network with noisy exploration switched by hand."""

import copy
import random

import torch
from torch import nn


class Dueling(nn.Module):
    def __init__(self, n_obs, n_act, width=128):
        super().__init__()
        self.stem = nn.Sequential(nn.Linear(n_obs, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.worth = nn.Linear(width, 1)
        self.edge = nn.Linear(width, n_act)

    def forward(self, obs):
        h = self.stem(obs)
        edge = self.edge(h)
        return self.worth(h) + edge - edge.mean()  # planted: dueling-mean-over-batch
        #= return self.worth(h) + edge - edge.mean(dim=-1, keepdim=True)


class Agent:
    def __init__(self, n_obs, n_act, gamma=0.99):
        self.net = Dueling(n_obs, n_act)
        self.still = copy.deepcopy(self.net)
        self.opt = torch.optim.Adam(self.net.parameters(), lr=1e-4)
        self.gamma, self.n_act, self.updates = gamma, n_act, 0

    def act(self, obs, eps):
        if random.random() < eps:
            return random.randrange(self.n_act)
        with torch.no_grad():
            return self.net(obs.unsqueeze(0)).argmax(dim=1).item()

    def update(self, obs, act, rew, nxt, end):
        with torch.no_grad():
            pick = self.net(nxt).argmax(dim=1, keepdim=True)
            y = rew + self.gamma * (1 - end) * self.still(nxt).gather(1, pick).squeeze(1)
        guess = self.net(obs).gather(1, act.unsqueeze(1)).squeeze(1)
        loss = nn.functional.huber_loss(guess, y)
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        self.updates += 1
        if self.updates % 1000 == 0:
            self.still.load_state_dict(self.net.state_dict())
