import torch
from torch import nn
from torch.distributions import Categorical


class MemoryNet(nn.Module):
    """encoder -> GRU -> policy and value. All sequences are time-major: (T, B, ...)."""

    def __init__(self, n_in, n_actions, width=32):
        super().__init__()
        self.width = width
        self.encoder = nn.Sequential(nn.Linear(n_in, width), nn.Tanh())
        self.core = nn.GRUCell(width, width)
        self.pi = nn.Linear(width, n_actions)
        self.v = nn.Linear(width, 1)
        nn.init.orthogonal_(self.core.weight_hh)
        nn.init.orthogonal_(self.pi.weight, 0.01)
        nn.init.zeros_(self.pi.bias)

    def blank(self, batch):
        return torch.zeros(batch, self.width)

    def forward(self, obs, carry, first):
        """obs (T, B, n), carry (B, w) from before the first of them, first (T, B): 1 where obs opens an episode."""
        x = self.encoder(obs)
        outs = []
        for t in range(obs.shape[0]):
            carry = carry * (1.0 - first[t]).unsqueeze(-1)
            carry = self.core(x[t], carry)
            outs.append(carry)
        h = torch.stack(outs)
        return Categorical(logits=self.pi(h)), self.v(h).squeeze(-1), carry

    def one(self, obs, carry, first):
        dist, value, carry = self(obs.unsqueeze(0), carry, first.unsqueeze(0))
        return Categorical(logits=dist.logits[0]), value[0], carry
