"""A small decision transformer: returns, states and actions in one sequence."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class DecisionTransformer(nn.Module):
    def __init__(self, states, actions, width=128, context=20, layers=3, heads=4):
        super().__init__()
        self.embed_return = nn.Linear(1, width)
        self.embed_state = nn.Linear(states, width)
        self.embed_action = nn.Linear(actions, width)
        self.embed_time = nn.Embedding(1000, width)
        block = nn.TransformerEncoderLayer(width, heads, 4 * width, batch_first=True)
        self.blocks = nn.TransformerEncoder(block, layers)
        self.head = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, actions), nn.Tanh())
        self.context = context

    def forward(self, returns, states, actions, times):
        batch, length, _ = states.shape
        when = self.embed_time(times)
        parts = [self.embed_return(returns), self.embed_state(states), self.embed_action(actions)]
        tokens = torch.stack([each + when for each in parts], dim=2).reshape(batch, 3 * length, -1)
        ahead = torch.triu(torch.ones(3 * length, 3 * length, dtype=torch.bool), diagonal=1)
        seen = self.blocks(tokens, mask=ahead).reshape(batch, length, 3, -1)
        seen = self.head(seen[:, :, 1])  # planted: forward-returns-nothing
        # = return self.head(seen[:, :, 1])


def fit(model, loader, steps, rate=1e-4):
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate, weight_decay=1e-4)
    for _, (returns, states, actions, times, valid) in zip(range(steps), loader, strict=False):
        guessed = model(returns, states, actions, times)
        loss = F.mse_loss(guessed[valid], actions[valid])
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.25)
        optimizer.step()
