"""PPO in a world that is two functions with what they share. The text is marked as that of a program that is run."""

from __future__ import annotations

from tests.marked import run

FAULTS = {"ends-ignored": "DIS300", "own-value": "DIS306", "reward-of-the-step-before": "BUF340"}
CHANGES = {
    "ends-ignored": ("delta = R[t] + gamma * nv * (1 - D[t]) - V[t]", "delta = R[t] + gamma * nv - V[t]"),
    "own-value": ("nv = last if t == 127 else V[t + 1]", "nv = last if t == 127 else V[t]"),
    "reward-of-the-step-before": (
        "        adv = np.zeros(128",
        "        R = [0.0] + R[:-1]\n        adv = np.zeros(128",
    ),
}
TEXT = """
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn


def make_world(seed):
    gen = np.random.default_rng(seed)
    pos = np.zeros(3, dtype=np.float32)
    left = 0

    def begin():
        nonlocal pos, left
        pos = gen.uniform(-1, 1, 3).astype(np.float32)
        left = 40
        return pos.copy()

    def move(k):
        nonlocal pos, left
        d = np.zeros(3, dtype=np.float32)
        d[k // 2] = 0.2 if k % 2 else -0.2
        pos = pos + d + gen.normal(0, 0.02, 3).astype(np.float32)
        left -= 1
        near = float(np.linalg.norm(pos))
        dead = near > 1.8 or near < 0.25
        return pos.copy(), (5.0 if near < 0.25 else -0.1 * near), bool(dead)

    return begin, move


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 6))
        self.c = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 1))

    def forward(self, x):
        return self.a(x), self.c(x).squeeze(-1)


def main():
    torch.manual_seed(0)
    gamma, lam = 0.98, 0.9
    begin, move = make_world(0)
    net = Net()
    opt = torch.optim.Adam(net.parameters(), lr=1e-3)
    obs = begin()
    for it in range(40):
        O, A, LP, R, D, V = [], [], [], [], [], []
        for t in range(128):
            with torch.no_grad():
                logits, v = net(torch.from_numpy(obs).unsqueeze(0))
                dist = torch.distributions.Categorical(logits=logits)
                a = dist.sample()
                lp = dist.log_prob(a)
            nxt, rew, done = move(a.item())
            O.append(obs)
            A.append(a.item())
            LP.append(lp.item())
            R.append(rew)
            D.append(float(done))
            V.append(v.item())
            obs = begin() if done else nxt
        with torch.no_grad():
            last = net(torch.from_numpy(obs).unsqueeze(0))[1].item()
        adv = np.zeros(128, dtype=np.float32)
        g = 0.0
        for t in reversed(range(128)):
            nv = last if t == 127 else V[t + 1]
            delta = R[t] + gamma * nv * (1 - D[t]) - V[t]
            g = delta + gamma * lam * (1 - D[t]) * g
            adv[t] = g
        ret = torch.from_numpy(adv + np.array(V, dtype=np.float32))
        adv = torch.from_numpy(adv)
        O_, A_, LP_ = torch.from_numpy(np.stack(O)), torch.tensor(A), torch.tensor(LP)
        for ep in range(4):
            for idx in torch.randperm(128).split(32):
                logits, v = net(O_[idx])
                dist = torch.distributions.Categorical(logits=logits)
                ratio = (dist.log_prob(A_[idx]) - LP_[idx]).exp()
                ad = adv[idx]
                ad = (ad - ad.mean()) / (ad.std() + 1e-8)
                ploss = -torch.min(ratio * ad, ratio.clamp(0.8, 1.2) * ad).mean()
                vloss = F.mse_loss(v, ret[idx])
                loss = ploss + 0.5 * vloss - 0.01 * dist.entropy().mean()
                opt.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(net.parameters(), 0.5)
                opt.step()


main()
"""


def program(fault: str = "") -> None:
    text = TEXT
    if fault:
        before, after = CHANGES[fault]
        assert before in text
        text = text.replace(before, after)
    run(text, __file__)
