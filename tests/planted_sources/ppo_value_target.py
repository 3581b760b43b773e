"""The update of a PPO agent that keeps its rollout in a dictionary."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Categorical


class Player(nn.Module):
    def __init__(self, inputs, actions, width=96):
        super().__init__()
        self.torso = nn.Sequential(nn.Linear(inputs, width), nn.ReLU())
        self.move = nn.Linear(width, actions)
        self.prospect = nn.Linear(width, 1)

    def forward(self, x):
        h = self.torso(x)
        return Categorical(logits=self.move(h)), self.prospect(h).flatten()


def advantages_of(roll, gamma, lam):
    count = len(roll["reward"])
    out = torch.zeros(count)
    carry, after = torch.zeros(()), roll["last"]
    for t in reversed(range(count)):
        live = 1 - roll["end"][t]
        delta = roll["reward"][t] + gamma * live * after - roll["value"][t]
        carry = delta + gamma * lam * live * carry
        out[t], after = carry, roll["value"][t]
    return out


def improve(player, optimizer, roll, gamma=0.995, lam=0.9, clip=0.15):
    weight = advantages_of(roll, gamma, lam)
    goal = weight + roll["value"]
    weight = (weight - weight.mean()) / (weight.std() + 1e-8)
    for _ in range(5):
        for rows in torch.randperm(len(goal)).split(256):
            dist, prospect = player(roll["obs"][rows])
            r = (dist.log_prob(roll["act"][rows]) - roll["logp"][rows]).exp()
            w = weight[rows]
            policy = -torch.min(r * w, r.clamp(1 - clip, 1 + clip) * w).mean()
            value = F.mse_loss(goal[rows], goal[rows])  # planted: compared-with-itself
            #= value = F.mse_loss(prospect, goal[rows])
            loss = policy + value - 0.005 * dist.entropy().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
