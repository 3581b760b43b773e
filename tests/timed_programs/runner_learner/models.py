import torch
from torch import nn


def trunk(n_in, n_out):
    return nn.Sequential(nn.Linear(n_in, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, n_out))


class Policy(nn.Module):
    def __init__(self, n_in, n_out):
        super().__init__()
        self.net = trunk(n_in, n_out)

    def forward(self, x):
        return torch.log_softmax(self.net(x), -1)


class Critic(nn.Module):
    def __init__(self, n_in, n_out):
        super().__init__()
        self.net = trunk(n_in, n_out)

    def forward(self, x):
        return self.net(x)
