"""SAC on a small continuous world: twin critics, targets that follow, a temperature that is learned."""

import argparse
import copy
import itertools
import json
import os
import time
from pathlib import Path

import gymnasium
import numpy as np
import torch
import torch.nn.functional as F
from gymnasium import spaces
from gymnasium.wrappers import RescaleAction, TimeLimit
from torch import nn

BOOK = {"costs": {}, "parts": {}, "calls": {}}
NOW = ["other", 0.0]
BLOCKS = {}


def note(section=None):
    """Closes the section that is open; opens another."""
    instant = time.perf_counter()
    BOOK["parts"][NOW[0]] = BOOK["parts"].get(NOW[0], 0.0) + (instant - NOW[1])
    closed, NOW[0], NOW[1] = NOW[0], section or "other", instant
    return closed


def linger(section):
    BOOK["calls"][section] = BOOK["calls"].get(section, 0) + 1
    ms = float(os.environ.get("COST_" + section.upper().replace(" ", "_"), 0))
    if ms <= 0:
        return
    origin = time.perf_counter()
    kind = os.environ.get("COST_KIND", "burn")
    if kind == "sleep":
        time.sleep(ms / 1000)
    elif kind == "burn":
        while (time.perf_counter() - origin) * 1000 < ms:
            sum(range(50))
    else:
        side = 500 if ms > 10 else 48
        block = BLOCKS.setdefault(side, torch.full((side, side), 0.5))
        with torch.no_grad():
            while (time.perf_counter() - origin) * 1000 < ms:
                torch.tanh(block @ block)
    BOOK["costs"][section] = BOOK["costs"].get(section, 0.0) + time.perf_counter() - origin


class Puck(gymnasium.Env):
    """Keep a puck in the middle of a table."""

    metadata = {"render_modes": []}  # noqa: RUF012

    def __init__(self):
        self.observation_space = spaces.Box(-5.0, 5.0, shape=(4,), dtype=np.float32)
        self.action_space = spaces.Box(-2.0, 2.0, shape=(2,), dtype=np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        outer = note("reset")
        linger("reset")
        self.puck = self.np_random.uniform(-1, 1, 4)
        note(outer)
        return self.puck.astype(np.float32), {}

    def step(self, action):
        outer = note("simulator")
        linger("simulator")
        self.puck[2:] = 0.9 * self.puck[2:] + 0.1 * np.asarray(action)
        self.puck[:2] = np.clip(self.puck[:2] + 0.1 * self.puck[2:], -5, 5)
        reward = -float(self.puck[0] ** 2 + self.puck[1] ** 2)
        note(outer)
        return self.puck.astype(np.float32), reward, False, False, {}


class Treacle(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, g):
        linger("backward")
        return g


class Plodding(torch.optim.Adam):
    def step(self, closure=None):
        linger("optimizer")
        return super().step(closure)


class GaussianActor(nn.Module):
    def __init__(self, n_obs, n_act):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(n_obs, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU())
        self.mu, self.log_std = nn.Linear(64, n_act), nn.Linear(64, n_act)

    def forward(self, s):
        linger("acting" if s.dim() == 1 else "loss")
        h = self.trunk(s)
        dist = torch.distributions.Normal(self.mu(h), self.log_std(h).clamp(-5, 2).exp())
        u = dist.rsample()
        logp = dist.log_prob(u).sum(-1) - (2 * (np.log(2) - u - F.softplus(-2 * u))).sum(-1)
        return torch.tanh(u), logp


class Critic(nn.Module):
    def __init__(self, n_obs, n_act):
        super().__init__()
        self.q = nn.Sequential(nn.Linear(n_obs + n_act, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))

    def forward(self, s, a):
        return self.q(torch.cat([s, a], dim=-1)).squeeze(-1)


class Replay:
    def __init__(self, room):
        self.room, self.rows, self.n = room, {}, 0

    def add(self, **row):
        linger("buffer write")
        for key, value in row.items():
            if key not in self.rows:
                self.rows[key] = np.zeros((self.room, *np.shape(value)), np.float32)
            self.rows[key][self.n % self.room] = value
        self.n += 1

    def batch(self, size):
        linger("buffer sample")
        index = np.random.choice(min(self.n, self.room), size)
        return {key: torch.as_tensor(value[index]) for key, value in self.rows.items()}


class SAC:
    def __init__(self, n_obs, n_act, gamma=0.98, tau=0.01):
        self.gamma, self.tau, self.goal_entropy = gamma, tau, -float(n_act)
        self.pi = GaussianActor(n_obs, n_act)
        self.q1, self.q2 = Critic(n_obs, n_act), Critic(n_obs, n_act)
        self.q1_slow, self.q2_slow = copy.deepcopy(self.q1), copy.deepcopy(self.q2)
        self.log_alpha = torch.zeros((), requires_grad=True)
        self.pi_opt = Plodding(self.pi.parameters(), lr=1e-3)
        self.q_opt = Plodding(itertools.chain(self.q1.parameters(), self.q2.parameters()), lr=1e-3)
        self.alpha_opt = Plodding([self.log_alpha], lr=1e-3)

    def descend(self, loss, opt):
        note("optimizer")
        opt.zero_grad()
        note("backward")
        loss.backward()
        note("optimizer")
        opt.step()
        note("loss")

    def improve(self, b):
        note("loss")
        with torch.no_grad():
            a2, logp2 = self.pi(b["s2"])
            slow = torch.min(self.q1_slow(b["s2"], a2), self.q2_slow(b["s2"], a2)) - self.log_alpha.exp() * logp2
            y = b["r"] + self.gamma * (1 - b["done"]) * slow
        q_loss = F.mse_loss(self.q1(b["s"], b["a"]), y) + F.mse_loss(self.q2(b["s"], b["a"]), y)
        self.descend(Treacle.apply(q_loss), self.q_opt)
        a, logp = self.pi(b["s"])
        pi_loss = (self.log_alpha.exp().detach() * logp - torch.min(self.q1(b["s"], a), self.q2(b["s"], a))).mean()
        self.descend(Treacle.apply(pi_loss), self.pi_opt)
        self.descend(-(self.log_alpha * (logp.detach() + self.goal_entropy)).mean(), self.alpha_opt)
        note("target networks")
        self.follow()
        note()

    @torch.no_grad()
    def follow(self):
        linger("target networks")
        for fast, slow in ((self.q1, self.q1_slow), (self.q2, self.q2_slow)):
            for p, p_slow in zip(fast.parameters(), slow.parameters(), strict=True):
                p_slow.mul_(1 - self.tau)
                p_slow.add_(self.tau * p)


def train(steps, warm_up=100):
    torch.manual_seed(7)
    np.random.seed(7)
    world = RescaleAction(TimeLimit(Puck(), 50), np.float32(-1), np.float32(1))
    world.action_space.seed(7)
    agent, replay = SAC(4, 2), Replay(10_000)
    s, _ = world.reset(seed=7)
    BOOK["costs"], BOOK["parts"] = {}, {}
    NOW[1] = began = time.perf_counter()
    for i in range(steps):
        if i < warm_up:
            a = world.action_space.sample()
        else:
            note("copies")
            x = torch.as_tensor(s)
            note("acting")
            with torch.no_grad():
                a, _ = agent.pi(x)
            note("copies")
            a = a.cpu().numpy()
        note("wrappers")
        s2, r, done, cut, _ = world.step(a)
        note("buffer write")
        replay.add(s=s, a=a, r=r, s2=s2, done=float(done))
        note()
        s = s2
        if done or cut:
            note("wrappers")
            s, _ = world.reset()
            note()
        if i >= warm_up:
            note("buffer sample")
            batch = replay.batch(64)
            agent.improve(batch)
    note()
    BOOK["seconds"] = NOW[1] - began


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("steps", type=int, nargs="?", default=500)
    train(parser.parse_args().steps)
    if os.environ.get("TRUTH"):
        Path(os.environ["TRUTH"]).write_text(json.dumps(BOOK))
