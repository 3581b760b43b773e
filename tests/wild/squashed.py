"""Soft actor-critic whose network gives mean and deviation in one piece; now and then the mean is played alone."""

from __future__ import annotations

import copy

import gymnasium as gym
import numpy as np
import torch
from torch import nn

FAULTS = {"mean-not-squashed": "EVA530"}
FORCE = 2.0


class Cart(gym.Env):
    action_space = gym.spaces.Box(-FORCE, FORCE, (2,), np.float32)
    observation_space = gym.spaces.Box(-9.0, 9.0, (4,), np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.place, self.speed, self.time = self.np_random.uniform(-2, 2, 2), np.zeros(2), 0
        return self.seen(), {}

    def seen(self):
        return np.concatenate([self.place, self.speed]).astype(np.float32)

    def step(self, action):
        self.speed = 0.8 * self.speed + 0.1 * np.clip(action, -FORCE, FORCE)
        self.place = self.place + 0.3 * self.speed
        self.time += 1
        lost = bool(np.abs(self.place).max() > 4)
        return self.seen(), -float(np.linalg.norm(self.place)) - 5.0 * lost, lost, self.time >= 30, {}


def network(wide, out):
    return nn.Sequential(nn.Linear(wide, 32), nn.ReLU(), nn.Linear(32, out))


def program(fault: str = "") -> None:
    np.random.seed(0)
    torch.manual_seed(0)
    env, test = Cart(), Cart()
    body, q = network(4, 4), network(6, 1)
    target = copy.deepcopy(q)
    learns = torch.optim.Adam(body.parameters(), lr=3e-3), torch.optim.Adam(q.parameters(), lr=3e-3)

    def policy(obs, best=False):
        mean, spread = body(obs).chunk(2, dim=-1)
        if best:
            return mean.clamp(-FORCE, FORCE) if fault == "mean-not-squashed" else FORCE * torch.tanh(mean)
        law = torch.distributions.Normal(mean, spread.clamp(-4, 1).exp())
        drawn = law.rsample()
        logp = law.log_prob(drawn) - torch.log(FORCE * (1 - torch.tanh(drawn) ** 2) + 1e-6)
        return FORCE * torch.tanh(drawn), logp.sum(-1, keepdim=True)

    def value(critic, obs, action):
        return critic(torch.cat([obs, action], 1))

    @torch.no_grad()
    def evaluate():
        total = 0.0
        for number in range(2):
            obs, ended = test.reset(seed=100 + number)[0], False
            while not ended:
                obs, reward, lost, late, _ = test.step(policy(torch.as_tensor(obs)[None], best=True)[0].numpy())
                total, ended = total + reward, lost or late
        return total / 2

    kept: list[tuple[np.ndarray, ...]] = []
    obs, _ = env.reset(seed=0)
    for step in range(360):
        with torch.no_grad():
            action = policy(torch.as_tensor(obs)[None])[0][0].numpy()
        after, reward, lost, late, _ = env.step(action)
        kept.append((obs, action, after, np.array([reward]), np.array([1.0 - lost])))
        obs = env.reset()[0] if lost or late else after
        if step < 100:
            continue
        rows = [kept[each] for each in np.random.randint(0, len(kept), 32)]
        s, a, s2, r, on = (torch.as_tensor(np.array(each), dtype=torch.float32) for each in zip(*rows, strict=True))
        with torch.no_grad():
            a2, logp = policy(s2)
            wanted = r + 0.95 * on * (value(target, s2, a2) - 0.1 * logp)
        loss = nn.functional.mse_loss(value(q, s, a), wanted)
        learns[1].zero_grad()
        loss.backward()
        learns[1].step()
        chosen, logp = policy(s)
        loss = (0.1 * logp - value(q, s, chosen)).mean()
        learns[0].zero_grad()
        loss.backward()
        learns[0].step()
        for new, old in zip(q.parameters(), target.parameters(), strict=True):
            old.data.lerp_(new.data, 0.02)
        if step % 60 == 59:
            evaluate()
