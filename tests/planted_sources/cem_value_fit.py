"""Cross-entropy method, with a value network that ranks the elite."""

import numpy as np
import torch
from torch import nn


class Ranker:
    def __init__(self, width):
        self.value = nn.Sequential(nn.Linear(width, 32), nn.ReLU(), nn.Linear(32, 1))
        self.optimizer = torch.optim.Adam(self.value.parameters, lr=1e-3)  # planted: parameters-not-called
        # = self.optimizer = torch.optim.Adam(self.value.parameters(), lr=1e-3)

    def fit(self, candidates, scores):
        guessed = self.value(torch.as_tensor(candidates)).squeeze(-1)
        loss = nn.functional.mse_loss(guessed, torch.as_tensor(scores))
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()

    def best(self, candidates, count):
        with torch.no_grad():
            guessed = self.value(torch.as_tensor(candidates)).squeeze(-1)
        return guessed.topk(count).indices.numpy()


def search(score, size, rounds=50, population=128, elite=16, seed=0):
    rng = np.random.default_rng(seed)
    mean, spread = np.zeros(size, np.float32), np.ones(size, np.float32)
    ranker = Ranker(size)
    for _ in range(rounds):
        candidates = rng.normal(mean, spread, (4 * population, size)).astype(np.float32)
        candidates = candidates[ranker.best(candidates, population)]
        scores = np.array([score(each) for each in candidates], np.float32)
        ranker.fit(candidates, scores)
        chosen = candidates[np.argsort(scores)[-elite:]]
        mean, spread = chosen.mean(axis=0), chosen.std(axis=0) + 1e-3
    return mean
