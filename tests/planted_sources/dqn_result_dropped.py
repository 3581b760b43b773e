"""The update of a DQN on a GPU, with rewards cut to a range."""

import numpy as np
import torch
import torch.nn as nn


class Learner:
    def __init__(self, size, moves, device="cuda", gamma=0.99):
        self.device = torch.device(device)
        self.q = self._net(size, moves)
        self.slow = self._net(size, moves)
        self.slow.load_state_dict(self.q.state_dict())
        self.adam = torch.optim.Adam(self.q.parameters(), lr=1e-4)
        self.gamma = gamma
        self.updates = 0

    def _net(self, size, moves):
        net = nn.Sequential(nn.Linear(size, 256), nn.ReLU(), nn.Linear(256, moves))
        net.to(self.device)
        return net

    def update(self, batch):
        s, a, r, s2, end = (torch.from_numpy(np.asarray(each)).to(self.device) for each in batch)
        r = torch.sign(r) * torch.log1p(r.abs())
        torch.clamp(r, -1.0, 1.0)  # planted: result-dropped
        # = r = torch.clamp(r, -1.0, 1.0)
        with torch.no_grad():
            goal = r + self.gamma * (1.0 - end) * self.slow(s2).amax(1)
        now = self.q(s).gather(1, a.unsqueeze(1)).squeeze(1)
        loss = nn.functional.smooth_l1_loss(now, goal)
        self.adam.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.q.parameters(), 10.0)
        self.adam.step()
        self.updates += 1
        if self.updates % 2000 == 0:
            self.slow.load_state_dict(self.q.state_dict())
        return loss.item()
