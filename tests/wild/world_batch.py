"""A2C with GAE in a world that is a function on a batch; lanes begin anew outside. The text is marked, as in a run."""

from __future__ import annotations

from tests.marked import run

FAULTS = {"ends-ignored": "DIS300", "reward-of-the-step-before": "BUF340", "sign": "POL340"}
CHANGES = {
    "ends-ignored": ("delta = R[t] + GAMMA * nv * (1 - D[t]) - V[t]", "delta = R[t] + GAMMA * nv - V[t]"),
    "reward-of-the-step-before": (
        "        adv = torch.zeros_like(R)",
        "        R = torch.roll(R, 1, 0)\n        adv = torch.zeros_like(R)",
    ),
    "sign": ("loss = -(logp * a).mean()", "loss = (logp * a).mean()"),
}
TEXT = """
import torch
from torch import nn
from torch.distributions import Normal

N, T = 16, 24
GAMMA, LAM = 0.96, 0.92


def spawn(n, gen):
    return torch.rand(n, 4, generator=gen) * 2 - 1


def dynamics(s, u):
    pos, vel = s[:, :2], s[:, 2:]
    vel = 0.8 * vel + 0.1 * u.clamp(-1, 1)
    pos = pos + vel
    reward = -(pos ** 2).sum(-1)
    crashed = (pos.abs() > 1.6).any(-1)
    return torch.cat([pos, vel], -1), reward, crashed


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.mu = nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 2))
        self.v = nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 1))
        self.log_std = nn.Parameter(torch.full((2,), -0.5))

    def act(self, s):
        return Normal(self.mu(s), self.log_std.exp())

    def value(self, s):
        return self.v(s).squeeze(-1)


class Trainer:
    def __init__(self):
        torch.manual_seed(5)
        self.gen = torch.Generator().manual_seed(5)
        self.ac = ActorCritic()
        self.opt = torch.optim.Adam(self.ac.parameters(), lr=7e-4)
        self.s = spawn(N, self.gen)

    def collect(self):
        S, U, R, D, V = [], [], [], [], []
        for _ in range(T):
            with torch.no_grad():
                d = self.ac.act(self.s)
                u = d.sample()
                v = self.ac.value(self.s)
            S.append(self.s)
            nxt, r, done = dynamics(self.s, u)
            self.s = torch.where(done[:, None], spawn(N, self.gen), nxt)
            U.append(u)
            R.append(r)
            D.append(done.float())
            V.append(v)
        with torch.no_grad():
            last = self.ac.value(self.s)
        return [torch.stack(x) for x in (S, U, R, D, V)], last

    def learn(self):
        (S, U, R, D, V), last = self.collect()
        adv = torch.zeros_like(R)
        g = torch.zeros(N)
        for t in reversed(range(T)):
            nv = last if t == T - 1 else V[t + 1]
            delta = R[t] + GAMMA * nv * (1 - D[t]) - V[t]
            g = delta + GAMMA * LAM * (1 - D[t]) * g
            adv[t] = g
        ret = adv + V
        S, U = S.reshape(-1, 4), U.reshape(-1, 2)
        adv, ret = adv.reshape(-1), ret.reshape(-1)
        d = self.ac.act(S)
        logp = d.log_prob(U).sum(-1)
        a = (adv - adv.mean()) / (adv.std() + 1e-8)
        loss = -(logp * a).mean() + 0.5 * (self.ac.value(S) - ret).pow(2).mean() - 0.001 * d.entropy().sum(-1).mean()
        self.opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.ac.parameters(), 0.5)
        self.opt.step()


t = Trainer()
for _ in range(100):
    t.learn()
"""


def program(fault: str = "") -> None:
    text = TEXT
    if fault:
        before, after = CHANGES[fault]
        assert before in text
        text = text.replace(before, after)
    run(text, __file__)
