"""DQN on an environment of dm_env, as users write it: on TimeSteps, and through adapters of their own."""

from __future__ import annotations

import dm_env
import gymnasium as gym
import numpy as np
import torch
from dm_env import specs
from torch import nn

GAMMA = 0.97


class Balance(dm_env.Environment):
    """Keep a ball near the middle of a beam; cut off after `limit` steps."""

    def __init__(self, seed=0, limit=20):
        self.rng, self.limit, self.over = np.random.default_rng(seed), limit, True

    def observation_spec(self):
        return specs.BoundedArray((2,), np.float32, -5, 5)

    def action_spec(self):
        return specs.DiscreteArray(3)

    def reset(self):
        self.t, self.over = 0, False
        self.x, self.v = self.rng.uniform(-1, 1, 2)
        return dm_env.restart(self.seen())

    def seen(self):
        return np.array([self.x, self.v], np.float32)

    def step(self, action):
        if self.over:
            return self.reset()
        self.t += 1
        self.v += 0.2 * (int(action) - 1) + 0.05 * self.rng.normal()
        self.x += 0.2 * self.v
        fallen = abs(self.x) > 2
        self.over = fallen or self.t >= self.limit
        reward = 1 - abs(self.x)
        if fallen:
            return dm_env.termination(-1.0, self.seen())
        return dm_env.truncation(reward, self.seen()) if self.over else dm_env.transition(reward, self.seen())


class Adapted(gym.Env):
    """What many write by hand: from a TimeStep to Gymnasium's five."""

    def __init__(self, env, *, last_is_terminal):
        self.env, self.last_is_terminal = env, last_is_terminal
        self.observation_space = gym.spaces.Box(-5, 5, (2,), np.float32)
        self.action_space = gym.spaces.Discrete(3)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return self.env.reset().observation, {}

    def step(self, action):
        step = self.env.step(action)
        over = step.last() and (self.last_is_terminal or step.discount == 0)
        return step.observation, step.reward, over, step.last() and not over, {}


class Learner:
    def __init__(self, seed=0):
        torch.manual_seed(seed)
        self.rng = np.random.default_rng(seed)
        self.q, self.target = (nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 3)) for _ in range(2))
        self.target.load_state_dict(self.q.state_dict())
        self.optimizer = torch.optim.Adam(self.q.parameters(), 1e-3)
        self.rows = []
        self.steps = 0

    def act(self, obs):
        self.steps += 1
        if self.rng.random() < max(0.1, 1 - self.steps / 800):
            return int(self.rng.integers(3))
        with torch.no_grad():
            return int(self.q(torch.as_tensor(obs)[None]).argmax())

    def store(self, obs, action, reward, after, terminal):
        self.rows.append((obs, action, np.float32(reward), after, np.float32(terminal)))
        if len(self.rows) < 64:
            return
        chosen = [self.rows[i] for i in self.rng.integers(0, len(self.rows), 32)]
        obs, action, reward, after, terminal = (torch.as_tensor(np.array(each)) for each in zip(*chosen, strict=True))
        with torch.no_grad():
            aim = reward + GAMMA * (1 - terminal) * self.target(after).max(1).values
        loss = nn.functional.mse_loss(self.q(obs).gather(1, action[:, None]).squeeze(1), aim)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        if self.steps % 50 == 0:
            self.target.load_state_dict(self.q.state_dict())


def on_time_steps(*, steps=900, seed=0, last_is_terminal=False, goes_on=False, env=None):
    """`goes_on`: the step after the last is stored like any other; else reset() is called there."""
    env, learner = env or Balance(seed), Learner(seed)
    env.action_spec()
    step = env.reset()
    for _ in range(steps):
        action = learner.act(step.observation)
        after = env.step(action)
        if not after.first() or goes_on:
            over = after.last() and (last_is_terminal or after.discount == 0)
            learner.store(step.observation, action, after.reward or 0.0, after.observation, over)
        step = after if goes_on or not after.last() else env.reset()
    return learner


def adapted(*, steps=900, seed=0, last_is_terminal=False):
    env, learner = Adapted(Balance(seed), last_is_terminal=last_is_terminal), Learner(seed)
    obs, _ = env.reset(seed=seed)
    for _ in range(steps):
        action = learner.act(obs)
        after, reward, terminated, truncated, _ = env.step(action)
        learner.store(obs, action, reward, after, terminated)
        obs = env.reset()[0] if terminated or truncated else after
    return learner
