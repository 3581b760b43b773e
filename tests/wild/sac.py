"""Soft actor-critic with a learned temperature, in the style of one-file implementations."""

from __future__ import annotations

import math

import gymnasium as gym
import numpy as np
import torch
from torch import nn
from torch.distributions import Normal

FAULTS = {
    "actor-loss-sign": "POL370",
    "larger-critic-in-actor": "POL371",
    "sample-without-gradient": "POL373",
    "entropy-sign-in-actor": "ENT360",
    "temperature-loss-sign": "ENT361",
    "target-entropy-positive": "ENT362",
    "temperature-computed-once": "ENT363",
    "no-entropy-in-actor": "ENT364",
    "no-entropy-in-target": "ENT365",
    "log-prob-of-the-squashed": "ACT370",
    "action-not-stretched": "ACT371",
    "next-action-of-present-state": "VAL460",
    "mean-executed": "EXP370",
    "temperature-never-stepped": "OPT350",
}


class Replay:
    def __init__(self, size, obs, action):
        self.kept = [np.zeros((size, width), np.float32) for width in (obs, obs, action, 1, 1)]
        self.size = 0

    def add(self, *step):
        for array, value in zip(self.kept, step, strict=True):
            array[self.size] = value
        self.size += 1

    def sample(self, count):
        at = np.random.randint(0, self.size, count)
        return [torch.as_tensor(array[at]) for array in self.kept]


class SoftQ(nn.Module):
    def __init__(self, obs, action):
        super().__init__()
        self.fc1, self.fc2, self.fc3 = nn.Linear(obs + action, 32), nn.Linear(32, 32), nn.Linear(32, 1)

    def forward(self, x, a):
        x = torch.relu(self.fc1(torch.cat([x, a], 1)))
        return self.fc3(torch.relu(self.fc2(x)))


class Actor(nn.Module):
    def __init__(self, obs, action, scale, fault):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(obs, 32), nn.Linear(32, 32)
        self.mean, self.log_std = nn.Linear(32, action), nn.Linear(32, action)
        self.scale, self.fault = scale, fault

    def forward(self, x):
        x = torch.relu(self.fc2(torch.relu(self.fc1(x))))
        return self.mean(x), torch.clamp(self.log_std(x), -5, 2)

    def draw(self, x):
        """An action, its log-prob, and the action without noise."""
        mean, log_std = self(x)
        normal = Normal(mean, log_std.exp())
        before = normal.sample() if self.fault == "sample-without-gradient" else normal.rsample()
        squashed = torch.tanh(before)
        action = squashed if self.fault == "action-not-stretched" else squashed * self.scale
        log_prob = normal.log_prob(squashed if self.fault == "log-prob-of-the-squashed" else before)
        log_prob = log_prob - torch.log(1 - squashed.pow(2) + 1e-6)
        return action, log_prob.sum(1, keepdim=True), torch.tanh(mean) * self.scale


def program(fault: str = "") -> None:
    np.random.seed(1)
    torch.manual_seed(1)
    env = gym.make("Pendulum-v1")
    env.action_space.seed(1)
    size, count, scale = 3, 1, float(env.action_space.high[0])
    gamma, tau, start = 0.99, 0.005, 120

    actor = Actor(size, count, scale, fault)
    qf1, qf2, qf1_target, qf2_target = (SoftQ(size, count) for _ in range(4))
    qf1_target.load_state_dict(qf1.state_dict())
    qf2_target.load_state_dict(qf2.state_dict())
    q_optimizer = torch.optim.Adam([*qf1.parameters(), *qf2.parameters()], lr=1e-3)
    actor_optimizer = torch.optim.Adam(actor.parameters(), lr=1e-3)
    target_entropy = float(count) if fault == "target-entropy-positive" else -float(count)
    log_alpha = torch.full((1,), math.log(0.5), requires_grad=True)
    alpha_optimizer = torch.optim.Adam([log_alpha], lr=1e-3)
    alpha = log_alpha.exp().item()

    replay = Replay(1000, size, count)
    obs, _ = env.reset(seed=1)
    for step in range(start + 120):
        if step < start:
            action = env.action_space.sample()
        else:
            with torch.no_grad():
                drawn, _, mean = actor.draw(torch.as_tensor(obs).unsqueeze(0))
            action = (mean if fault == "mean-executed" else drawn)[0].numpy()
        after, reward, terminated, truncated, _ = env.step(action)
        replay.add(obs, after, action, float(reward), terminated)
        obs = env.reset()[0] if terminated or truncated else after
        if step < start:
            continue

        s, s2, a, r, d = replay.sample(32)
        with torch.no_grad():
            a2, log_prob2, _ = actor.draw(s if fault == "next-action-of-present-state" else s2)
            later = torch.min(qf1_target(s2, a2), qf2_target(s2, a2))
            if fault != "no-entropy-in-target":
                later = later - alpha * log_prob2
            y = r + gamma * (1 - d) * later
        q_loss = nn.functional.mse_loss(qf1(s, a), y) + nn.functional.mse_loss(qf2(s, a), y)
        q_optimizer.zero_grad()
        q_loss.backward()
        q_optimizer.step()

        pi, log_prob, _ = actor.draw(s)
        choose = torch.max if fault == "larger-critic-in-actor" else torch.min
        q = choose(qf1(s, pi), qf2(s, pi))
        actor_loss = (alpha * log_prob - q).mean()
        if fault == "actor-loss-sign":
            actor_loss = (alpha * log_prob + q).mean()
        if fault == "entropy-sign-in-actor":
            actor_loss = (-alpha * log_prob - q).mean()
        if fault == "no-entropy-in-actor":
            actor_loss = -q.mean()
        actor_optimizer.zero_grad()
        actor_loss.backward()
        actor_optimizer.step()

        alpha_loss = -(log_alpha.exp() * (log_prob.detach() + target_entropy)).mean()
        if fault == "temperature-loss-sign":
            alpha_loss = -alpha_loss
        alpha_optimizer.zero_grad()
        alpha_loss.backward()
        if fault != "temperature-never-stepped":
            alpha_optimizer.step()
        if fault != "temperature-computed-once":
            alpha = log_alpha.exp().item()

        with torch.no_grad():
            for target, online in ((qf1_target, qf1), (qf2_target, qf2)):
                for old, new in zip(target.parameters(), online.parameters(), strict=True):
                    old.copy_(tau * new + (1 - tau) * old)
