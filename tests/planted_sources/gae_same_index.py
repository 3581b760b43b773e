"""Generalised advantages for a recurrent policy, with numpy."""

import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical


def advantages(rewards, values, ends, gamma, lam):
    """values has one entry more than rewards."""
    steps, lanes = rewards.shape
    out = np.zeros((steps, lanes), np.float32)
    carry = np.zeros(lanes, np.float32)
    for t in range(steps - 1, -1, -1):
        alive = 1.0 - ends[t]
        surprise = rewards[t] + gamma * alive * values[t] - values[t]  # planted: own-value-added
        #= surprise = rewards[t] + gamma * alive * values[t + 1] - values[t]
        carry = surprise + gamma * lam * alive * carry
        out[t] = carry
    return out, out + values[:-1]


class Memory(nn.Module):
    def __init__(self, n_obs, n_act, width=64):
        super().__init__()
        self.cell = nn.GRU(n_obs, width)
        self.act = nn.Linear(width, n_act)
        self.val = nn.Linear(width, 1)

    def forward(self, obs, state=None):
        h, state = self.cell(obs, state)
        return Categorical(logits=self.act(h)), self.val(h).squeeze(-1), state


def learn(net, optimizer, roll, gamma=0.99, lam=0.95):
    adv, ret = advantages(roll.rewards, roll.values, roll.ends, gamma, lam)
    adv, ret = torch.from_numpy(adv), torch.from_numpy(ret)
    adv = (adv - adv.mean()) / (adv.std() + 1e-8)
    dist, value, _ = net(roll.obs, roll.state)
    policy_loss = -(dist.log_prob(roll.act) * adv).mean()
    value_loss = nn.functional.mse_loss(value, ret)
    loss = policy_loss + 0.5 * value_loss - 0.01 * dist.entropy().mean()
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 0.5)
    optimizer.step()
    return loss.item()
