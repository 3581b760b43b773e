"""An actor that lags behind its learner, corrected by V-trace. Batches are (time, actors)."""

from __future__ import annotations

import copy

import numpy as np
import torch
from torch import nn

FAULTS = {"held-above-one": "POL374", "ratio-turned": "POL302", "trace-over-ends": "ADV322"}

GAMMA, UNROLL, ACTORS, UPDATES = 0.95, 16, 4, 60


class Slope:
    """A ball on a slope, to be kept near the middle."""

    def __init__(self, seed: int) -> None:
        self.draw = np.random.default_rng(seed)

    def reset(self):
        self.x, self.v, self.t = self.draw.uniform(-0.5, 0.5), 0.0, 0
        return self._seen()

    def _seen(self):
        return np.array([self.x, self.v], dtype=np.float32)

    def step(self, action):
        self.v += 0.15 * (action - 1) + 0.05 * self.x + 0.02 * self.draw.normal()
        self.x += 0.3 * self.v
        self.t += 1
        return self._seen(), 1.0 - abs(self.x), abs(self.x) > 1.0, {"timeout": False}


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(2, 32), nn.Tanh())
        self.policy, self.value = nn.Linear(32, 3), nn.Linear(32, 1)

    def forward(self, x):
        z = self.body(x)
        return torch.log_softmax(self.policy(z), -1), self.value(z)[..., 0]


def corrected(fault, log_ratio, rewards, values, following, ends):
    ratio = (-log_ratio if fault == "ratio-turned" else log_ratio).exp()
    weights = ratio.clamp(min=1.0) if fault == "held-above-one" else ratio.clamp(max=1.0)
    errors = weights * (rewards + GAMMA * (1 - ends) * following - values)
    carried, found = torch.zeros(ACTORS), []
    for t in reversed(range(UNROLL)):
        kept = torch.ones(ACTORS) if fault == "trace-over-ends" else 1 - ends[t]
        carried = errors[t] + GAMMA * kept * weights[t] * carried
        found.append(carried)
    return values + torch.stack(found[::-1])


def program(fault: str = "") -> None:
    torch.manual_seed(0)
    envs = [Slope(seed) for seed in range(ACTORS)]
    net = Net()
    actor = copy.deepcopy(net)
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
    now = [env.reset() for env in envs]
    for update in range(UPDATES):
        seen, taken, paid, ends, chance = [], [], [], [], []
        for _ in range(UNROLL):
            x = torch.as_tensor(np.stack(now))
            with torch.no_grad():
                logs, _ = actor(x)
                action = torch.multinomial(logs.exp(), 1)[:, 0]
            steps = [env.step(int(each)) for env, each in zip(envs, action, strict=True)]
            seen.append(x)
            taken.append(action)
            chance.append(logs.gather(1, action[:, None])[:, 0])
            paid.append(torch.tensor([each[1] for each in steps], dtype=torch.float32))
            ends.append(torch.tensor([float(each[2]) for each in steps]))
            now = [env.reset() if each[2] else each[0] for env, each in zip(envs, steps, strict=True)]
        seen.append(torch.as_tensor(np.stack(now)))
        logs, values = net(torch.stack(seen))
        logp = logs[:-1].gather(2, torch.stack(taken)[..., None])[..., 0]
        with torch.no_grad():
            target = corrected(
                fault, logp - torch.stack(chance), torch.stack(paid), values[:-1], values[1:], torch.stack(ends)
            )
            advantage = target - values[:-1]
        loss = -(logp * advantage).mean() + 0.5 * (values[:-1] - target).pow(2).mean()
        loss = loss + 0.01 * (logs[:-1].exp() * logs[:-1]).sum(-1).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if update % 4 == 3:
            actor.load_state_dict(net.state_dict())
