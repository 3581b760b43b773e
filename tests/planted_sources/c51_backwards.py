"""A small distributional agent: fixed atoms, a frozen copy for the targets."""

import copy

import torch
import torch.nn.functional as F
from torch import nn


class Atoms(nn.Module):
    def __init__(self, n_obs, n_act, n_atoms=21, low=-5.0, high=5.0):
        super().__init__()
        self.n_act, self.n_atoms = n_act, n_atoms
        self.register_buffer("atoms", torch.linspace(low, high, n_atoms))
        self.net = nn.Sequential(nn.Linear(n_obs, 120), nn.ReLU(), nn.Linear(120, n_act * n_atoms))

    def forward(self, obs):
        return F.log_softmax(self.net(obs).view(-1, self.n_act, self.n_atoms), dim=-1)

    def values(self, obs):
        return (self(obs).exp() * self.atoms).sum(-1)


def project(reward, end, atoms, chances, gamma):
    low, high, step = atoms[0], atoms[-1], atoms[1] - atoms[0]
    moved = (reward[:, None] + gamma * (1 - end[:, None]) * atoms).clamp(low, high)
    place = ((moved[:, None, :] - atoms[None, :, None]).abs() / step).clamp(0, 1)
    return ((1 - place) * chances[:, None, :]).sum(-1)


class Agent:
    def __init__(self, n_obs, n_act, gamma=0.99, sync=250):
        self.online = Atoms(n_obs, n_act)
        self.frozen = copy.deepcopy(self.online)
        self.optimizer = torch.optim.Adam(self.online.parameters(), lr=2.5e-4)
        self.gamma, self.sync, self.done_updates = gamma, sync, 0

    def update(self, obs, act, rew, nxt, end):
        rows = torch.arange(len(act))
        with torch.no_grad():
            best = self.online.values(nxt).argmax(-1)
            goal = project(rew, end, self.online.atoms, self.frozen(nxt)[rows, best].exp(), self.gamma)
        loss = -(goal * self.online(obs)[rows, act]).sum(-1).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.done_updates += 1
        if self.done_updates % self.sync == 0:
            self.online.load_state_dict(self.frozen.state_dict())  # planted: target-copied-onto-online
            #= self.frozen.load_state_dict(self.online.state_dict())
        return loss.item()
