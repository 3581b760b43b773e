"""Policy and value of an agent for a card game, with masks for what may be played."""

import torch
from torch import nn


class CardPlayer(nn.Module):
    def __init__(self, cards: int, width: int = 96):
        super().__init__()
        self.table = nn.GRU(cards, width, batch_first=True)
        self.play = nn.Sequential(nn.Linear(width, cards), nn.Softmax(dim=-1))
        # + self.play = nn.Sequential(nn.Linear(width, cards))
        self.worth = nn.Linear(width, 1)

    def forward(self, history):
        seen, _ = self.table(history)
        return seen[:, -1]

    def act(self, history):
        seen = self.forward(history)
        dist = torch.distributions.Categorical(logits=self.play(seen))  # planted: probabilities-given-as-logits
        # = dist = torch.distributions.Categorical(logits=self.play(seen))
        card = dist.sample()
        return card, dist.log_prob(card), dist.entropy(), self.worth(seen).squeeze(-1)
