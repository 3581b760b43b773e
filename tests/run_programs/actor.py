"""An actor and its learner, of which every gradient is NaN. Its argument: for how many seconds at most."""

import sys
import time

import gymnasium
import numpy as np
import torch
from torch import nn


class Line(gymnasium.Env):
    observation_space = gymnasium.spaces.Box(-1.0, 1.0, (2,), np.float32)
    action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.t = 0
        return self.observation_space.sample(), {}

    def step(self, action):
        self.t += 1
        return self.observation_space.sample(), float(action), self.t % 10 == 0, False, {}


def train(seconds):
    env = Line()
    net = nn.Linear(2, 2)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    end = time.monotonic() + seconds
    obs, _ = env.reset(seed=0)
    while time.monotonic() < end:
        dist = torch.distributions.Categorical(logits=torch.nan_to_num(net(torch.as_tensor(obs))))
        action = dist.sample()
        obs, reward, terminated, _, _ = env.step(action.item())
        loss = -dist.log_prob(action) * reward * float("nan")
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if terminated:
            obs, _ = env.reset()


try:
    train(float(sys.argv[1]))
    print("trained to the end")
finally:
    print("cleaned up")
