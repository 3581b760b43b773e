"""The learner's side: networks, advantages, update; and the books that are kept of its time."""

import os
import time

import numpy as np
import torch
from torch import nn
from torch.distributions import Normal

BOOKS = {"costs": {}, "parts": {}, "calls": {}}
_open = ["other"]
_last = [0.0]
_lumps = {False: np.random.rand(60, 60), True: np.random.rand(400, 400)}


def burden(name):
    BOOKS["calls"][name] = BOOKS["calls"].get(name, 0) + 1
    seconds = float(os.getenv("COST_" + name.replace(" ", "_").upper(), "0")) * 1e-3
    if seconds > 0.0:
        first = time.perf_counter()
        manner = os.getenv("COST_KIND", "burn")
        if manner == "sleep":
            time.sleep(seconds)
        while time.perf_counter() - first < seconds:
            if manner == "torch":
                np.dot(_lumps[seconds > 0.01], _lumps[seconds > 0.01])
        BOOKS["costs"][name] = BOOKS["costs"].get(name, 0.0) + time.perf_counter() - first


def turn(name=None):
    now = time.perf_counter()
    BOOKS["parts"][_open[-1]] = BOOKS["parts"].get(_open[-1], 0.0) + now - _last[0]
    _last[0] = now
    if name is None:
        _open.pop()
    else:
        _open.append(name)
    return now


def reset_books():
    BOOKS.update(costs={}, parts={})
    _last[0] = time.perf_counter()
    return _last[0]


class Resin(torch.autograd.Function):
    @staticmethod
    def forward(ctx, value):
        return value.clone()

    @staticmethod
    def backward(ctx, g):
        burden("backward")
        return g


class Rusty(torch.optim.Adam):
    def step(self, closure=None):
        burden("optimizer")
        return super().step(closure)


class Pilot(nn.Module):
    def __init__(self, n_in, n_out):
        super().__init__()
        self.mean = nn.Sequential(nn.Linear(n_in, 64), nn.Tanh(), nn.Linear(64, n_out))
        self.value = nn.Sequential(nn.Linear(n_in, 64), nn.Tanh(), nn.Linear(64, 1))
        self.spread = nn.Parameter(torch.zeros(n_out))

    def forward(self, x):
        if not self.training:
            burden("acting")
        return Normal(self.mean(x), self.spread.exp()), self.value(x).squeeze(-1)


def taken(data, some):
    burden("buffer sample")
    return [each[some] for each in data]


class Learner:
    def __init__(self, pilot, epochs=6, batches=4):
        self.pilot, self.epochs, self.batches = pilot, epochs, batches
        self.descent = Rusty(pilot.parameters(), lr=3e-4)

    @torch.no_grad()
    def weigh(self, rows, last_obs):
        burden("advantages")
        obs, act, logp, value, reward, over = (torch.stack(each) for each in zip(*rows, strict=True))
        _, following = self.pilot(last_obs)
        gain, carry = torch.zeros_like(reward), torch.zeros_like(following)
        for t in range(len(rows) - 1, -1, -1):
            delta = reward[t] + 0.98 * following * (1 - over[t]) - value[t]
            carry = delta + 0.98 * 0.9 * (1 - over[t]) * carry
            gain[t], following = carry, value[t]
        return [each.flatten(0, 1) for each in (obs, act, logp, gain, gain + value)]

    def improve(self, data):
        self.pilot.train()
        for _ in range(self.epochs):
            turn("buffer sample")
            order = torch.randperm(len(data[0])).chunk(self.batches)
            turn()
            for some in order:
                turn("buffer sample")
                obs, act, logp, gain, target = taken(data, some)
                turn()
                turn("loss")
                loss = Resin.apply(self.loss(obs, act, logp, gain, target))
                turn()
                turn("optimizer")
                self.descent.zero_grad()
                turn()
                turn("backward")
                loss.backward()
                turn()
                turn("optimizer")
                self.descent.step()
                turn()
        self.pilot.eval()
        return loss.detach()

    def loss(self, obs, act, logp, gain, target):
        burden("loss")
        dist, value = self.pilot(obs)
        ratio = (dist.log_prob(act).sum(-1) - logp).exp()
        gain = (gain - gain.mean()) / (gain.std() + 1e-7)
        surrogate = torch.minimum(ratio * gain, ratio.clamp(0.8, 1.2) * gain).mean()
        return (value - target).square().mean() - surrogate
