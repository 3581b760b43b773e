import numpy as np
import torch


def to_tensor(pictures):
    """(n, rows, columns, layers) in bytes -> (n, layers, rows, columns) in [0, 1]"""
    return torch.from_numpy(pictures.transpose(0, 3, 1, 2).astype(np.float32) / 255.0)


class Memory:
    def __init__(self, size, picture_shape, rng):
        self.rng = rng
        self.size = size
        self.before = np.zeros((size, *picture_shape), np.uint8)
        self.after = np.zeros((size, *picture_shape), np.uint8)
        self.action = np.zeros(size, np.int64)
        self.reward = np.zeros(size, np.float32)
        self.over = np.zeros(size, np.float32)
        self.cursor = 0
        self.full = False

    def __len__(self):
        return self.size if self.full else self.cursor

    def remember(self, before, action, reward, after, over):
        i = self.cursor
        self.before[i], self.action[i], self.reward[i] = before, action, reward
        self.after[i], self.over[i] = after, over
        self.cursor += 1
        if self.cursor == self.size:
            self.cursor, self.full = 0, True

    def batch(self, n):
        pick = self.rng.choice(len(self), size=n)
        return (
            to_tensor(self.before[pick]),
            torch.from_numpy(self.action[pick]),
            torch.from_numpy(self.reward[pick]),
            to_tensor(self.after[pick]),
            torch.from_numpy(self.over[pick]),
        )
