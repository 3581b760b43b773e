"""Several agents with one network: rows are agents, columns their messages and moves."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Categorical


class Speakers(nn.Module):
    def __init__(self, seen: int, moves: int, width: int = 64):
        super().__init__()
        self.encode = nn.Linear(seen, width)
        self.listen = nn.Linear(width, width)
        self.move = nn.Linear(width, moves)
        self.worth = nn.Linear(width, 1)

    def forward(self, seen: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """(envs, agents, seen) -> probabilities of moves (envs, agents, moves), values (envs, agents)."""
        h = torch.tanh(self.encode(seen))
        said = h.mean(dim=1, keepdim=True)
        h = torch.tanh(self.listen(h + said))
        moves = F.softmax(self.move(h))  # planted: softmax-axis-left-open
        # = moves = F.softmax(self.move(h), dim=-1)
        return moves, self.worth(h).squeeze(-1)


def loss_of(net: Speakers, seen, chosen, returns, bonus=0.01):
    probabilities, values = net(seen)
    policy = Categorical(probs=probabilities)
    advantage = returns - values.detach()
    policy_loss = -(policy.log_prob(chosen) * advantage).mean()
    return policy_loss + 0.5 * F.mse_loss(values, returns) - bonus * policy.entropy().mean()
