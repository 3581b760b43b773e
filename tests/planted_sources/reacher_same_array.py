"""A point that is pushed to a spot, and is paid for what it has come nearer."""

import numpy as np


class Reacher:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def reset(self):
        self.where = self.rng.uniform(-1.0, 1.0, 2)
        self.spot = self.rng.uniform(-1.0, 1.0, 2)
        self.left = 40
        return np.concatenate([self.where, self.spot])

    def step(self, push):
        old = self.where  # planted: old-value-is-the-new-one
        # = old = self.where.copy()
        self.where += 0.1 * np.clip(push, -1.0, 1.0)
        nearer = np.linalg.norm(old - self.spot) - np.linalg.norm(self.where - self.spot)
        self.left -= 1
        return np.concatenate([self.where, self.spot]), float(nearer), False, self.left == 0
