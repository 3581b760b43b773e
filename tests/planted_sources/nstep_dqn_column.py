"""DQN with returns over several steps."""

import random
from collections import deque

import torch
from torch import nn
from torch.nn import functional as F


class Window:
    """Turns single steps into steps of length n."""

    def __init__(self, n, gamma):
        self.n, self.gamma = n, gamma
        self.steps = deque()

    def push(self, step):
        self.steps.append(step)
        if len(self.steps) < self.n:
            return None
        total = sum(self.gamma**i * each[2] for i, each in enumerate(self.steps))
        first, last = self.steps.popleft(), step
        return first[0], first[1], total, last[3], last[4]


class Learner:
    def __init__(self, inputs, actions, n=3, gamma=0.99):
        self.q = nn.Sequential(nn.Linear(inputs, 100), nn.ReLU(), nn.Linear(100, actions))
        self.past = nn.Sequential(nn.Linear(inputs, 100), nn.ReLU(), nn.Linear(100, actions))
        self.past.load_state_dict(self.q.state_dict())
        self.opt = torch.optim.Adam(self.q.parameters(), lr=1e-4)
        self.horizon = gamma**n
        self.rows = deque(maxlen=50_000)
        self.updates = 0

    def learn(self, size=32):
        rows = random.sample(self.rows, size)
        obs, act, gain, nxt, end = (torch.tensor(column) for column in zip(*rows))
        with torch.no_grad():
            following = self.past(nxt).max(dim=1).values
            goal = gain + self.horizon * (1 - end.float()) * following
        guess = self.q(obs).gather(1, act.unsqueeze(1))
        loss = F.smooth_l1_loss(guess, goal)  # planted: compared-across-ranks
        #= loss = F.smooth_l1_loss(guess.squeeze(1), goal)
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        self.updates += 1
        if self.updates % 400 == 0:
            self.past.load_state_dict(self.q.state_dict())
