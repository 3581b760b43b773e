"""Double DQN with a replay of arrays, learning in one method."""

import numpy as np
import torch
from torch import nn


class Memory:
    def __init__(self, size, width):
        self.states = np.zeros((size, width), np.float32)
        self.following = np.zeros((size, width), np.float32)
        self.actions = np.zeros(size, np.int64)
        self.rewards = np.zeros(size, np.float32)
        self.ended = np.zeros(size, np.float32)
        self.size, self.written = size, 0

    def add(self, state, action, reward, following, ended):
        place = self.written % self.size
        self.states[place], self.following[place] = state, following
        self.actions[place], self.rewards[place], self.ended[place] = action, reward, ended
        self.written += 1

    def sample(self, count):
        chosen = np.random.randint(0, min(self.written, self.size), count)
        rows = (self.states, self.actions, self.rewards, self.following, self.ended)
        return [torch.from_numpy(each[chosen]) for each in rows]


class DoubleQ:
    def __init__(self, width, actions, discount=0.99):
        self.online = nn.Sequential(nn.Linear(width, 128), nn.ReLU(), nn.Linear(128, actions))
        self.target = nn.Sequential(nn.Linear(width, 128), nn.ReLU(), nn.Linear(128, actions))
        self.sync()
        self.optimizer = torch.optim.Adam(self.online.parameters(), lr=1e-4)
        self.discount = discount

    def sync(self):
        self.target.load_state_dict(self.online.state_dict())

    def learn(self, memory, count=64):
        states, actions, rewards, following, ended = memory.sample(count)
        with torch.no_grad():
            best = self.online(following).argmax(1, keepdim=True)
            future = self.target(following).gather(1, best).squeeze(1)
            wanted = rewards + self.discount * (1 - ended) * future
            got = self.online(states).gather(1, actions.unsqueeze(1)).squeeze(1)
            loss = nn.functional.smooth_l1_loss(got, wanted)
            self.optimizer.zero_grad()
            loss.backward()  # planted: backward-under-no-grad
        # = got = self.online(states).gather(1, actions.unsqueeze(1)).squeeze(1)
        # = loss = nn.functional.smooth_l1_loss(got, wanted)
        # = self.optimizer.zero_grad()
        # = loss.backward()
        self.optimizer.step()
        return loss.item()
