# planted: PRF913 logging-every-step
# part: logging
"""Q-learning with a small network on a maze of our own; every move is logged."""

import logging
import os
import random
import tempfile
import time

import torch
from torch import nn
from torch.nn.functional import one_hot


class Maze:
    walls = {(1, 1), (1, 2), (3, 3), (4, 1), (2, 4)}

    def reset(self):
        self.x = self.y = self.moves = 0
        return 0

    def step(self, way):
        dx, dy = ((1, 0), (0, 1), (-1, 0), (0, -1))[way]
        x, y = min(max(self.x + dx, 0), 5), min(max(self.y + dy, 0), 5)
        if (x, y) not in self.walls:
            self.x, self.y = x, y
        self.moves += 1
        out = (self.x, self.y) == (5, 5)
        return 6 * self.x + self.y, 1.0 if out else -0.01, out, self.moves >= 60


class Pilot:
    def __init__(self):
        self.values = nn.Sequential(nn.Linear(36, 32), nn.ReLU(), nn.Linear(32, 4))
        self.optim = torch.optim.SGD(self.values.parameters(), lr=0.05)
        self.seen = torch.zeros(4096, 5)
        self.count = 0

    def choose(self, place):
        if random.random() < 0.5:
            return random.randrange(4)
        with torch.no_grad():
            return self.values[2](self.values[1](self.values[0].weight[:, place] + self.values[0].bias)).argmax().item()

    def remember(self, *row):
        self.seen[self.count % 4096] = torch.tensor(row)
        self.count += 1

    def learn(self):
        rows = self.seen[torch.randint(min(self.count, 4096), (64,))]
        s, a, r, s2, d = rows.unbind(1)
        with torch.no_grad():
            goal = r + 0.95 * (1 - d) * self.values(one_hot(s2.long(), 36).float()).amax(1)
        guess = self.values(one_hot(s.long(), 36).float()).gather(1, a.long().unsqueeze(1)).squeeze(1)
        loss = (guess - goal).square().mean()
        self.optim.zero_grad()
        loss.backward()
        self.optim.step()
        return loss.item()


def play(log, moves=64_000):
    random.seed(0)
    torch.manual_seed(0)
    maze, pilot = Maze(), Pilot()
    began, place, last = time.perf_counter(), maze.reset(), 0.0
    for n in range(moves):
        way = pilot.choose(place)
        there, gain, out, late = maze.step(way)
        pilot.remember(place, way, gain, there, out)
        log.info("move %d: %d to %d by %d, reward %.2f, out %s, loss %.4f", n, place, there, way, gain, out, last)  # here
        place = maze.reset() if out or late else there
        if n % 32 == 31:
            last = pilot.learn()
    return last, time.perf_counter() - began


def logger_in(folder):
    log = logging.getLogger("maze")
    log.setLevel(logging.INFO)
    file = logging.FileHandler(os.path.join(folder, "moves.log"))
    file.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(funcName)s:%(lineno)d %(message)s"))
    log.addHandler(file)
    return log


with tempfile.TemporaryDirectory() as folder:
    print("loss %.4f seconds=%.3f" % play(logger_in(folder)))
