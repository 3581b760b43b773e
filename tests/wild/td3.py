"""TD3 in one function: a boat with two motors is driven to a buoy."""

from __future__ import annotations

import copy
import random
from collections import deque

import gymnasium as gym
import numpy as np
import torch
from torch import nn

FAULTS = {
    "actor-loss-sign": "POL370",
    "actor-asks-target-critic": "POL372",
    "target-of-one-critic": "VAL390",
    "first-critic-trained-twice": "VAL391",
    "old-action-in-next-state": "VAL392",
    "both-targets-follow-the-first": "TGT370",
    "tau-in-both-places": "TGT371",
    "one-noise-for-the-batch": "TGT372",
    "no-noise": "EXP370",
    "noise-without-size": "EXP371",
    "noise-far-too-large": "EXP373",
    "actor-never-stepped": "OPT350",
}

FORCE = 2.0  # of each motor, forwards and backwards


class Boat(gym.Env):
    action_space = gym.spaces.Box(-FORCE, FORCE, (2,), np.float32)

    def __init__(self, start, end, widest):
        self.start, self.end = start, end
        self.observation_space = gym.spaces.Box(-widest, widest, (4,), np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.place, self.speed, self.time = self.np_random.uniform(-self.start, self.start, 2), np.zeros(2), 0
        return self.seen(), {}

    def seen(self):
        return np.concatenate([self.place, self.speed]).astype(np.float32)

    def step(self, action):
        self.speed = 0.8 * self.speed + 0.1 * np.clip(action, -FORCE, FORCE)
        self.place = self.place + 0.3 * self.speed
        self.time += 1
        lost = bool(np.abs(self.place).max() > self.end)
        reward = -float(np.linalg.norm(self.place)) - 5.0 * lost
        return self.seen(), reward, lost, self.time >= 40, {}


class Actor(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, hidden), nn.ReLU(), nn.Linear(hidden, 2))

    def forward(self, obs):
        return FORCE * torch.tanh(self.body(obs))


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, obs, action):
        return self.body(torch.cat([obs, action], 1))


def program(
    fault: str = "", world: tuple[float, float, float] = (1.0, 2.0, 5.0), hidden: int = 32, rate: float = 1e-3
) -> None:
    random.seed(0)
    np.random.seed(0)
    torch.manual_seed(0)
    env = Boat(*world)
    gamma, tau, start = 0.98, 0.01, 200

    actor = Actor(hidden)
    if fault == "weights-all-zero":
        for weight in actor.parameters():
            nn.init.zeros_(weight)
    if fault == "actor-saturated":
        for weight in actor.parameters():
            nn.init.normal_(weight, 0, 50.0)
    actor_target = copy.deepcopy(actor)
    q1, q2 = Critic(), Critic()
    q1_target, q2_target = copy.deepcopy(q1), copy.deepcopy(q2)
    actor_rate = {"learning-rate-too-high": 0.3, "learning-rate-too-low": 1e-9}.get(fault, rate)
    actor_optimizer = torch.optim.Adam(actor.parameters(), lr=actor_rate)
    critic_optimizer = torch.optim.Adam([*q1.parameters(), *q2.parameters()], lr=rate)

    def act(obs):
        with torch.no_grad():
            action = actor(torch.as_tensor(obs).unsqueeze(0))[0].numpy()
        if fault == "no-noise":
            return action
        if fault == "noise-without-size":
            noise = np.random.normal(0, 0.1 * FORCE)
        elif fault == "noise-never-negative":
            noise = 0.3 * FORCE * np.random.rand(2)
        elif fault == "noise-far-too-large":
            noise = np.random.normal(0, 4 * FORCE, 2)
        else:
            noise = np.random.normal(0, 0.1 * FORCE, 2)
        return np.clip(action + noise, -FORCE, FORCE).astype(np.float32)

    def follow(target, online):
        with torch.no_grad():
            for old, new in zip(target.parameters(), online.parameters(), strict=True):
                keep = tau if fault == "tau-in-both-places" else 1 - tau
                old.copy_(keep * old + tau * new)

    memory = deque(maxlen=10_000)
    obs, _ = env.reset(seed=0)
    for step in range(1, start + 201):
        action = np.random.uniform(-FORCE, FORCE, 2).astype(np.float32) if step < start else act(obs)
        after, reward, lost, late, _ = env.step(action)
        memory.append((obs, action, [reward], after, [float(lost)]))
        obs = env.reset()[0] if lost or late else after
        if step < start:
            continue

        batch = zip(*random.sample(memory, 32), strict=True)
        s, a, r, s2, d = (torch.as_tensor(np.array(each), dtype=torch.float32) for each in batch)
        with torch.no_grad():
            shape = a[0] if fault == "one-noise-for-the-batch" else a
            noise = (torch.randn_like(shape) * 0.2 * FORCE).clamp(-0.5 * FORCE, 0.5 * FORCE)
            a2 = (actor_target(s2) + noise).clamp(-FORCE, FORCE)
            if fault == "old-action-in-next-state":
                a2 = a
            later = torch.min(q1_target(s2, a2), q2_target(s2, a2))
            if fault == "target-of-one-critic":
                later = q1_target(s2, a2)
            y = r + gamma * (1 - d) * later
        second = q1 if fault == "first-critic-trained-twice" else q2
        critic_loss = nn.functional.mse_loss(q1(s, a), y) + nn.functional.mse_loss(second(s, a), y)
        critic_optimizer.zero_grad()
        critic_loss.backward()
        critic_optimizer.step()
        if step % 2 == 0:
            judge = q1_target if fault == "actor-asks-target-critic" else q1
            actor_loss = -judge(s, actor(s)).mean()
            if fault == "actor-loss-sign":
                actor_loss = judge(s, actor(s)).mean()
            actor_optimizer.zero_grad()
            actor_loss.backward()
            if fault != "actor-never-stepped":
                actor_optimizer.step()
            follow(q1_target, q1)
            follow(q2_target, q1 if fault == "both-targets-follow-the-first" else q2)
            follow(actor_target, actor)
