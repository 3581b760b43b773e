"""Double DQN on frames; frames are kept as bytes and scaled when they are used."""

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


class Vision(nn.Module):
    def __init__(self, moves):
        super().__init__()
        self.a = nn.Conv2d(4, 32, 8, 4)
        self.b = nn.Conv2d(32, 64, 4, 2)
        self.c = nn.Conv2d(64, 64, 3, 1)
        self.d = nn.Linear(3136, 512)
        self.e = nn.Linear(512, moves)

    def forward(self, frames):
        x = F.relu(self.a(frames / 255.0))  # planted: image-divided-twice
        # = x = F.relu(self.a(frames))
        x = F.relu(self.c(F.relu(self.b(x))))
        return self.e(F.relu(self.d(x.flatten(1))))


def as_input(frames):
    return torch.from_numpy(np.ascontiguousarray(frames)).float() / 255


class Agent:
    def __init__(self, moves, lr=6.25e-5):
        self.moves = moves
        self.fast, self.slow = Vision(moves), Vision(moves)
        self.slow.load_state_dict(self.fast.state_dict())
        self.adam = torch.optim.Adam(self.fast.parameters(), lr=lr, eps=1.5e-4)
        self.rng = np.random.default_rng(17)

    def act(self, frames, eps):
        if self.rng.random() < eps:
            return int(self.rng.integers(self.moves))
        with torch.no_grad():
            return int(self.fast(as_input(frames[None])).argmax(1))

    def update(self, batch, gamma=0.99):
        frames, moves, rewards, after, ends = batch
        x, y = as_input(frames), as_input(after)
        moves, rewards, ends = (torch.as_tensor(each) for each in (moves, rewards, ends))
        with torch.no_grad():
            best = self.fast(y).argmax(1, keepdim=True)
            goals = rewards + gamma * (1 - ends) * self.slow(y).gather(1, best).squeeze(1)
        loss = F.smooth_l1_loss(self.fast(x).gather(1, moves[:, None]).squeeze(1), goals)
        self.adam.zero_grad()
        loss.backward()
        self.adam.step()

    def follow(self):
        self.slow.load_state_dict(self.fast.state_dict())
