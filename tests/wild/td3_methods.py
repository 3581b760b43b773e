"""TD3 as its authors wrote it: both critics are one module, and the actor asks the first by a method of its own."""

from __future__ import annotations

import copy

import gymnasium as gym
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

FAULTS = {"actor-loss-sign": "POL370"}


class Raft(gym.Env):
    action_space = gym.spaces.Box(-1.0, 1.0, (2,), np.float32)
    observation_space = gym.spaces.Box(-6.0, 6.0, (4,), np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.place, self.speed, self.time = self.np_random.uniform(-2, 2, 2), np.zeros(2), 0
        return self.seen(), {}

    def seen(self):
        return np.concatenate([self.place, self.speed]).astype(np.float32)

    def step(self, action):
        self.speed = 0.8 * self.speed + 0.2 * np.clip(action, -1, 1)
        self.place = self.place + 0.3 * self.speed
        self.time += 1
        lost = bool(np.abs(self.place).max() > 4)
        return self.seen(), -float(np.linalg.norm(self.place)) - 5.0 * lost, lost, self.time >= 40, {}


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.l1 = nn.Linear(4, 32)
        self.l2 = nn.Linear(32, 2)

    def forward(self, state):
        return torch.tanh(self.l2(F.relu(self.l1(state))))


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.l1 = nn.Linear(6, 32)
        self.l2 = nn.Linear(32, 32)
        self.l3 = nn.Linear(32, 1)
        self.l4 = nn.Linear(6, 32)
        self.l5 = nn.Linear(32, 32)
        self.l6 = nn.Linear(32, 1)

    def forward(self, state, action):
        both = torch.cat([state, action], 1)
        q1 = self.l3(F.relu(self.l2(F.relu(self.l1(both)))))
        q2 = self.l6(F.relu(self.l5(F.relu(self.l4(both)))))
        return q1, q2

    def Q1(self, state, action):
        both = torch.cat([state, action], 1)
        return self.l3(F.relu(self.l2(F.relu(self.l1(both)))))


class Learner:
    def __init__(self, fault):
        self.fault, self.times = fault, 0
        self.actor, self.critic = Actor(), Critic()
        self.actor_target, self.critic_target = copy.deepcopy(self.actor), copy.deepcopy(self.critic)
        self.actor_optimizer = torch.optim.Adam(self.actor.parameters(), lr=1e-3)
        self.critic_optimizer = torch.optim.Adam(self.critic.parameters(), lr=1e-3)

    def act(self, state):
        with torch.no_grad():
            return self.actor(torch.as_tensor(state).reshape(1, -1)).numpy().flatten()

    def train(self, state, action, after, reward, not_done):
        self.times += 1
        with torch.no_grad():
            noise = (torch.randn_like(action) * 0.2).clamp(-0.5, 0.5)
            next_action = (self.actor_target(after) + noise).clamp(-1, 1)
            target = reward + not_done * 0.98 * torch.min(*self.critic_target(after, next_action))
        q1, q2 = self.critic(state, action)
        critic_loss = F.mse_loss(q1, target) + F.mse_loss(q2, target)
        self.critic_optimizer.zero_grad()
        critic_loss.backward()
        self.critic_optimizer.step()
        if self.times % 2:
            return
        value = self.critic.Q1(state, self.actor(state)).mean()
        actor_loss = value if self.fault == "actor-loss-sign" else -value
        self.actor_optimizer.zero_grad()
        actor_loss.backward()
        self.actor_optimizer.step()
        pairs = ((self.critic, self.critic_target), (self.actor, self.actor_target))
        for online, target_network in pairs:
            for new, old in zip(online.parameters(), target_network.parameters(), strict=True):
                old.data.copy_(0.01 * new.data + 0.99 * old.data)


def program(fault: str = "") -> None:
    np.random.seed(0)
    torch.manual_seed(0)
    env = Raft()
    learner = Learner(fault)
    kept: list[tuple[np.ndarray, ...]] = []
    state, _ = env.reset(seed=0)
    for step in range(400):
        action = np.random.uniform(-1, 1, 2) if step < 200 else learner.act(state) + np.random.normal(0, 0.1, 2)
        action = action.clip(-1, 1).astype(np.float32)
        after, reward, lost, late, _ = env.step(action)
        kept.append((state, action, after, np.array([reward]), np.array([1.0 - lost])))
        state = env.reset()[0] if lost or late else after
        if step >= 200:
            rows = [kept[each] for each in np.random.randint(0, len(kept), 32)]
            learner.train(*(torch.as_tensor(np.array(each), dtype=torch.float32) for each in zip(*rows, strict=True)))
