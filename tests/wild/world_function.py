"""A2C in a world that is a function on a named tuple. The text is marked as that of a program that is run."""

from __future__ import annotations

from tests.marked import run

FAULTS = {"ends-ignored": "DIS300", "sign": "ADV003", "reward-of-the-step-before": "BUF340"}
CHANGES = {
    "ends-ignored": ("ret = r + GAMMA * ret * (1.0 - d)", "ret = r + GAMMA * ret"),
    "sign": ("adv = (rets - values).detach()", "adv = (values - rets).detach()"),
    "reward-of-the-step-before": (
        "    xs, acts = torch.stack",
        "    rews = [0.0, *rews[:-1]]\n    xs, acts = torch.stack",
    ),
}
TEXT = """
import math
import random
from typing import NamedTuple
import torch
from torch import nn


class State(NamedTuple):
    x: float
    v: float
    t: int


def fresh(rng):
    return State(rng.uniform(-0.5, 0.5), rng.uniform(-0.1, 0.1), 0)


def advance(s, push):
    v = 0.9 * s.v + (0.1 if push == 1 else -0.1) + 0.02 * math.sin(3 * s.x)
    x = s.x + v
    out = abs(x) > 1.5
    reward = 1.0 - abs(x)
    return State(x, v, s.t + 1), reward, out or s.t > 60


def look(s):
    return torch.tensor([s.x, s.v], dtype=torch.float32)


GAMMA = 0.97
rng = random.Random(3)
torch.manual_seed(3)
body = nn.Sequential(nn.Linear(2, 32), nn.Tanh())
pi = nn.Linear(32, 2)
vf = nn.Linear(32, 1)
opt = torch.optim.Adam([*body.parameters(), *pi.parameters(), *vf.parameters()], lr=2e-3)
state = fresh(rng)
for it in range(120):
    xs, acts, rews, dones = [], [], [], []
    for _ in range(32):
        x = look(state)
        with torch.no_grad():
            dist = torch.distributions.Categorical(logits=pi(body(x)))
        a = dist.sample()
        state, r, done = advance(state, int(a))
        xs.append(x)
        acts.append(a)
        rews.append(r)
        dones.append(done)
        if done:
            state = fresh(rng)
    xs, acts = torch.stack(xs), torch.stack(acts)
    h = body(xs)
    values = vf(h).squeeze(-1)
    with torch.no_grad():
        ret = vf(body(look(state))).item()
    rets = []
    for r, d in zip(reversed(rews), reversed(dones)):
        ret = r + GAMMA * ret * (1.0 - d)
        rets.append(ret)
    rets = torch.tensor(rets[::-1])
    adv = (rets - values).detach()
    dist = torch.distributions.Categorical(logits=pi(h))
    loss = -(dist.log_prob(acts) * adv).mean() + 0.5 * ((values - rets) ** 2).mean() - 0.01 * dist.entropy().mean()
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(body.parameters(), 0.5)
    opt.step()
"""


def program(fault: str = "") -> None:
    text = TEXT
    if fault:
        before, after = CHANGES[fault]
        assert before in text
        text = text.replace(before, after)
    run(text, __file__)
