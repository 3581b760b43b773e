"""The update of an advantage actor-critic, as a function."""

import torch
import torch.nn.functional as F
from torch import nn, optim


class Shared(nn.Module):
    def __init__(self, inputs: int, actions: int) -> None:
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(inputs, 128), nn.ReLU())
        self.pi = nn.Linear(128, actions)
        self.v = nn.Linear(128, 1)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        h = self.trunk(x)
        return self.pi(h), self.v(h).squeeze(-1)


def make(inputs: int, actions: int) -> tuple[Shared, optim.Optimizer]:
    model = Shared(inputs, actions)
    return model, optim.RMSprop(model.parameters(), lr=7e-4, alpha=0.99, eps=1e-5)


def update(model: Shared, optimizer: optim.Optimizer, obs, actions, returns, beta=0.01, limit=0.5):
    logits, values = model(obs)
    advantage = returns - values.detach()
    logp = F.log_softmax(logits, dim=-1)
    chosen = logp.gather(1, actions.unsqueeze(1)).squeeze(1)
    entropy = -(logp.exp() * logp).sum(-1).mean()
    loss = -(chosen * advantage).mean() + 0.5 * F.mse_loss(values, returns) - beta * entropy
    optimizer.zero_grad()
    loss.backward()
    # + nn.utils.clip_grad_norm_(model.parameters(), limit)
    optimizer.step()
    nn.utils.clip_grad_norm_(model.parameters(), limit)  # planted: clipped-after-step
    return loss.item()
