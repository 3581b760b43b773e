"""An actor that draws within forward() and its critic: trained, kept in a file, loaded into networks of the same kind
that are made anew, and trained on."""

from __future__ import annotations

import io

import gymnasium
import numpy as np
import torch
from torch import nn


class Push(gymnasium.Env):
    """A cart that is pushed, in places that come up again and again."""

    observation_space = gymnasium.spaces.Box(-5, 5, (2,), np.float32)
    action_space = gymnasium.spaces.Box(-1, 1, (1,), np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.seen, self.count = self.np_random.uniform(-1, 1, 2).round(1).astype(np.float32), 0
        return self.seen.copy(), {}

    def step(self, action):
        moved = self.seen + 0.1 * np.array([self.seen[1], float(np.asarray(action).reshape(-1)[0])])
        self.seen, self.count = np.clip(moved, -5, 5).round(1).astype(np.float32), self.count + 1
        return self.seen.copy(), float(-(self.seen[0] ** 2)), False, self.count >= 20, {}


class Drawing(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 2))

    def forward(self, rows, middle=False):
        mean, spread = self.layers(rows).chunk(2, -1)
        drawn = mean if middle else mean + spread.clamp(-3, 1).exp() * torch.randn_like(mean)
        return torch.tanh(drawn)


class Agent:
    def __init__(self):
        self.actor = Drawing()
        self.critic, self.follows = (nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 1)) for _ in range(2))
        self.follows.load_state_dict(self.critic.state_dict())
        self.by_actor = torch.optim.Adam(self.actor.parameters(), 1e-3)
        self.by_critic = torch.optim.Adam(self.critic.parameters(), 1e-3)

    def parts(self):
        return self.actor, self.critic, self.follows, self.by_actor, self.by_critic

    def learn(self, obs, action, reward, after):
        with torch.no_grad():
            goal = reward + 0.9 * self.follows(torch.cat([after, self.actor(after)], -1))[:, 0]
        loss = (self.critic(torch.cat([obs, action], -1))[:, 0] - goal).square().mean()
        self.by_critic.zero_grad()
        loss.backward()
        self.by_critic.step()
        loss = -self.critic(torch.cat([obs, self.actor(obs)], -1)).mean()
        self.by_actor.zero_grad()
        loss.backward()
        self.by_actor.step()
        with torch.no_grad():
            for late, now in zip(self.follows.parameters(), self.critic.parameters(), strict=True):
                late.lerp_(now, 0.01)


def leg(agent, rows, steps, seed):
    env = Push()
    obs, _ = env.reset(seed=seed)
    for count in range(steps):
        with torch.no_grad():
            action = agent.actor(torch.as_tensor(obs)[None])[0].numpy()
        after, reward, terminated, truncated, _ = env.step(action)
        rows.append((obs, action, reward, after))
        obs = env.reset()[0] if terminated or truncated else after
        if len(rows) > 16:
            picked = [rows[each] for each in np.random.randint(0, len(rows), 16)]
            agent.learn(*(torch.as_tensor(np.array(each), dtype=torch.float32) for each in zip(*picked, strict=True)))
        if count % 20 == 19:
            play(agent.actor)


def play(actor):
    env = Push()
    obs, _ = env.reset(seed=5)
    for _ in range(40):
        with torch.no_grad():
            action = actor(torch.as_tensor(obs)[None], middle=True)[0].numpy()
        obs, _, terminated, truncated, _ = env.step(action)
        if terminated or truncated:
            obs, _ = env.reset(seed=5)


def resumed(steps=80):
    torch.manual_seed(0)
    np.random.seed(0)
    rows, agent, file = [], Agent(), io.BytesIO()
    leg(agent, rows, steps, seed=0)
    torch.save([each.state_dict() for each in agent.parts()], file)
    file.seek(0)
    del agent
    agent = Agent()
    for each, state in zip(agent.parts(), torch.load(file), strict=True):
        each.load_state_dict(state)
    leg(agent, rows, steps, seed=1)
