"""A value network is fitted to episode returns, beside random search; it is tested after every fit."""

import torch
import torch.nn.functional as F


def fit(value, optimizer, states, returns, batch=256):
    value.train()
    for rows in torch.randperm(len(states)).split(batch):
        error = F.smooth_l1_loss(value(states[rows]).squeeze(-1), returns[rows])
        optimizer.zero_grad()
        error.backward  # planted: method-not-called
        # = error.backward()
        optimizer.step()


def tested(value, states, returns):
    value.eval()
    with torch.no_grad():
        return F.mse_loss(value(states).squeeze(-1), returns).item()
