"""Actors in threads, a queue, and a learner with V-trace: a small program, whole or with a mistake."""

from __future__ import annotations

import queue
import threading

import numpy as np
import torch
from torch import nn

T, B, GAMMA = 10, 4, 0.95


class Walk:
    """Left or right; what pays moves with the place. Ends by itself now and then."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def reset(self):
        self.at = self.rng.normal(size=3).astype(np.float32)
        return self.at.copy()

    def step(self, action):
        self.at = 0.8 * self.at + self.rng.normal(size=3).astype(np.float32) * 0.5
        self.at[0] += 0.3 if action else -0.3
        return self.at.copy(), float(self.at[0] - 0.2 * self.at[1]), bool(self.rng.random() < 0.1)


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, 16), nn.Tanh())
        self.pi, self.v = nn.Linear(16, 2), nn.Linear(16, 1)

    def forward(self, x):
        z = self.body(x)
        return self.pi(z), self.v(z).squeeze(-1)


def log_prob(logits, action):
    return torch.log_softmax(logits, -1).gather(-1, action.unsqueeze(-1)).squeeze(-1)


def play(number, weights, out, stop):
    env, net, draw = Walk(number), Net(), torch.Generator().manual_seed(number)
    obs = torch.tensor(env.reset())
    while not stop.is_set():
        net.load_state_dict(weights["now"])
        rows = []
        for _ in range(T):
            with torch.no_grad():
                logits, _ = net(obs[None])
                action = torch.multinomial(torch.softmax(logits, -1), 1, generator=draw)[:, 0]
            seen, reward, ended = env.step(int(action))
            kept = log_prob(logits, action)[0]
            rows.append((obs, action[0], torch.tensor(reward), torch.tensor(float(ended)), kept))
            obs = torch.tensor(env.reset() if ended else seen)
        out.put([torch.stack(each) for each in zip(*rows, strict=True)] + [obs])


def learn(updates: int = 18, *, shifted: bool = True, masked: bool = True) -> None:
    """Whole; or the targets are not shifted for the advantages; or nothing stops at the end of an episode."""
    torch.manual_seed(0)
    net = Net()
    optimizer = torch.optim.Adam(net.parameters(), lr=5e-2)
    weights = {"now": {name: each.clone() for name, each in net.state_dict().items()}}
    out: queue.Queue = queue.Queue(maxsize=4)
    stop = threading.Event()
    actors = [threading.Thread(target=play, args=(each, weights, out, stop), daemon=True) for each in range(2)]
    for each in actors:
        each.start()
    for _ in range(updates):
        unrolls = [out.get() for _ in range(B)]
        obs, action, reward, ended, acted = (torch.stack(each, 1) for each in list(zip(*unrolls, strict=True))[:5])
        logits, value = net(obs)
        logp = log_prob(logits, action)
        with torch.no_grad():
            last = net(torch.stack([each[5] for each in unrolls]))[1]
            rho = (logp - acted).exp().clamp(max=1.0)
            discount = GAMMA * (1.0 - ended) if masked else torch.full_like(ended, GAMMA)
            error = rho * (reward + discount * torch.cat([value[1:], last[None]]) - value)
            carry, target = torch.zeros(B), torch.empty(T, B)
            for t in reversed(range(T)):
                carry = error[t] + discount[t] * rho[t] * carry
                target[t] = value[t] + carry
            onward = torch.cat([target[1:], last[None]]) if shifted else target
            push = rho * (reward + discount * onward - value)
        loss = -(logp * push).mean() + 0.5 * ((value - target) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        weights["now"] = {name: each.clone() for name, each in net.state_dict().items()}
    stop.set()
    for each in actors:
        while each.is_alive():
            try:
                out.get(timeout=0.01)
            except queue.Empty:
                pass
