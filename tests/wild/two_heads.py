"""Actions of two choices, a head each on shared layers: PPO in the style of a MultiDiscrete tutorial."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

FAULTS = {
    "second-head-not-scored": "POL522",
    "features-detached": "GRA520",
}

GAMMA, CLIP = 0.9, 0.2
STEPS, ROUNDS = 64, 14


class Signs(gym.Env):
    """Pays for each choice that tells the sign of its number; the weather changes as it likes. 30 to 40 steps."""

    observation_space = gym.spaces.Box(-1, 1, (4,), np.float32)
    action_space = gym.spaces.MultiDiscrete([3, 3])

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.left = int(self.np_random.integers(30, 41))
        return self._seen(), {}

    def _seen(self):
        self.seen = self.np_random.uniform(-1, 1, 4).astype(np.float32)
        return self.seen

    def step(self, action):
        reward = float(action[0] == int(self.seen[0] > 0)) + float(action[1] == int(self.seen[1] > 0))
        self.left -= 1
        return self._seen(), reward, self.left == 0, False, {}


class Net(nn.Module):
    def __init__(self, detached: str) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 32), nn.Tanh())
        self.heads = nn.ModuleList([nn.Linear(32, 3), nn.Linear(32, 3)])
        self.value = nn.Linear(32, 1)
        self.model = nn.Linear(32, 4)
        self.detached = detached

    def forward(self, x):
        features = self.body(x)
        own = features.detach() if self.detached == "policy" else features
        judged = features.detach() if self.detached == "value" else features
        return [Categorical(logits=head(own)) for head in self.heads], self.value(judged).squeeze(-1), features


def program(fault: str = "", *, style: str = "") -> None:
    """Styles that are sound: "a-loss-each", "asked-twice", "value-detached", "features-of-their-own"."""
    torch.manual_seed(0)
    env = Signs()
    detached = "policy" if fault == "features-detached" or style == "features-of-their-own" else ""
    net = Net("value" if style == "value-detached" else detached)
    optimizer = torch.optim.Adam(net.parameters(), 3e-3)

    def scored(heads, actions):
        found = [head.log_prob(actions[..., i]) for i, head in enumerate(heads)]
        return found[0] if fault == "second-head-not-scored" else sum(found)

    obs, _ = env.reset(seed=0)
    for _ in range(ROUNDS):
        seen, actions, rewards, ends = [], [], [], []
        for _ in range(STEPS):
            with torch.no_grad():
                heads, _, _ = net(torch.as_tensor(obs))
            action = torch.stack([head.sample() for head in heads], -1)
            seen.append(obs)
            obs, reward, terminated, _, _ = env.step(action.numpy())
            if terminated:
                obs, _ = env.reset()
            actions.append(action)
            rewards.append(reward)
            ends.append(terminated)
        states, taken = torch.as_tensor(np.stack(seen)), torch.stack(actions)
        with torch.no_grad():
            carried = float(net(torch.as_tensor(obs))[1])
            heads, value, _ = net(states)
            old = scored(heads, taken)
        returns = torch.zeros(STEPS)
        for t in reversed(range(STEPS)):
            carried = rewards[t] + GAMMA * carried * (not ends[t])
            returns[t] = carried
        advantage = returns - value
        for _ in range(2):
            for rows in torch.randperm(STEPS).split(32):
                heads, value, features = net(states[rows])
                gain = advantage[rows]
                ratio = torch.exp(scored(heads, taken[rows]) - old[rows])
                if style == "a-loss-each":
                    loss = -sum((each.log_prob(taken[rows, i]) * gain).mean() for i, each in enumerate(heads))
                else:
                    loss = -torch.min(ratio * gain, ratio.clamp(1 - CLIP, 1 + CLIP) * gain).mean()
                loss = loss + 0.5 * (value - returns[rows]).pow(2).mean()
                if style == "features-of-their-own":
                    loss = loss + (net.model(features) - states[rows]).pow(2).mean()
                if style == "asked-twice":
                    heads = net(states[rows])[0]
                loss = loss - 0.01 * sum(head.entropy() for head in heads).mean()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
