from collections import namedtuple

import numpy as np
import torch
from ledger import cost

Transition = namedtuple("Transition", "state action reward following over")


class Memory:
    def __init__(self, capacity):
        self.capacity = capacity
        self.items = []
        self.place = 0

    def __len__(self):
        return len(self.items)

    def push(self, *row):
        cost("buffer write")
        item = Transition(*row)
        if len(self) < self.capacity:
            self.items.append(item)
        else:
            self.items[self.place] = item
        self.place = (self.place + 1) % self.capacity

    def batch(self, size):
        cost("buffer sample")
        rows = [self.items[i] for i in np.random.randint(len(self), size=size)]
        whole = Transition(*zip(*rows, strict=True))
        return Transition(*(torch.from_numpy(np.stack(each)) for each in whole))
