# planted: PRF927 environment-made-anew
# part: other
"""REINFORCE on a cliff walk; the program makes its environment for each episode."""

import time

import gymnasium as gym
import numpy as np
import torch
from torch import nn


class Slope(gym.Env):
    """A field with a slope, a cliff and wind, all in tables that are worked out once."""

    def __init__(self, side=24):
        self.side = side
        self.observation_space = gym.spaces.Box(0.0, 1.0, (3,), np.float32)
        self.action_space = gym.spaces.Discrete(4)
        self.table = {}
        for x in range(side):
            for y in range(side):
                for way, (dx, dy) in enumerate(((1, 0), (-1, 0), (0, 1), (0, -1))):
                    there = min(max(x + dx, 0), side - 1), min(max(y + dy, 0), side - 1)
                    pay = -1.0 if there[1] == 0 and 0 < there[0] < side - 1 else 0.01 * (there[0] - x)
                    self.table[x, y, way] = there, pay

    def _seen(self):
        return np.array([self.x / self.side, self.y / self.side, self.age / 80], dtype=np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.x, self.y, self.age = 0, 4, 0
        return self._seen(), {}

    def step(self, action):
        if self.np_random.random() < 0.1:
            action = 3
        (self.x, self.y), pay = self.table[self.x, self.y, int(action)]
        self.age += 1
        return self._seen(), pay, pay == -1.0, self.age == 80, {}


gym.register("Slope-v0", entry_point=Slope)


def reinforce(episodes=600, gamma=0.98):
    torch.manual_seed(1)
    net = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 4))
    adam = torch.optim.Adam(net.parameters(), lr=2e-3)
    clock = time.perf_counter()
    for number in range(episodes):
        walk = gym.make("Slope-v0")  # here
        o, _ = walk.reset(seed=number)
        obs, acts, pays = [], [], []
        over = False
        while not over:
            with torch.no_grad():
                a = torch.multinomial(net(torch.from_numpy(o)).softmax(0), 1).item()
            obs.append(o)
            acts.append(a)
            o, pay, fell, late, _ = walk.step(a)
            pays.append(pay)
            over = fell or late
        weights = gamma ** np.arange(len(pays))
        togo = (weights * pays)[::-1].cumsum()[::-1] / weights
        logp = net(torch.from_numpy(np.array(obs))).log_softmax(1)[torch.arange(len(acts)), torch.tensor(acts)]
        loss = -(logp * torch.from_numpy(togo.astype(np.float32))).sum()
        adam.zero_grad()
        loss.backward()
        adam.step()
    return loss.item(), time.perf_counter() - clock


if __name__ == "__main__":
    print("loss {:.4f} seconds={:.3f}".format(*reinforce()))
