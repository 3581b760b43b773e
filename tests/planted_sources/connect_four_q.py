"""Q-learning for a board game in which full columns may not be chosen."""

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


class Player:
    def __init__(self, columns, cells, lr=1e-3, greed=0.95):
        self.columns = columns
        self.values = nn.Sequential(nn.Linear(cells, 128), nn.ReLU(), nn.Linear(128, columns))
        self.before = nn.Sequential(nn.Linear(cells, 128), nn.ReLU(), nn.Linear(128, columns))
        self.before.load_state_dict(self.values.state_dict())
        self.adam = torch.optim.Adam(self.values.parameters(), lr=lr)
        self.greed = greed
        self.rng = np.random.default_rng(5)

    def choose(self, board, free):
        """free: 1 where a column has room, else 0."""
        if self.rng.random() > self.greed:
            return int(self.rng.choice(np.flatnonzero(free)))
        with torch.no_grad():
            worth = self.values(torch.as_tensor(board, dtype=torch.float32)).numpy()
        return int(np.argmax(worth - np.inf * (1 - free)))  # planted: mask-times-infinity
        # = return int(np.argmax(np.where(free, worth, -np.inf)))

    def learn(self, boards, moves, rewards, boards_after, free_after, over):
        with torch.no_grad():
            worth = self.before(boards_after).masked_fill(free_after == 0, -1e9)
            goals = rewards + 0.99 * (1.0 - over) * worth.max(dim=1).values * (free_after.sum(1) > 0)
        chosen = self.values(boards).gather(1, moves.unsqueeze(1)).squeeze(1)
        loss = F.mse_loss(chosen, goals)
        self.adam.zero_grad()
        loss.backward()
        self.adam.step()
        return loss.item()

    def freeze(self):
        self.before.load_state_dict(self.values.state_dict())
