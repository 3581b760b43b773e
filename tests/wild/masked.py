"""PPO on shelves of which some are full: the environment says in its info which ones take the next box."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

FAULTS = {
    "mask-times-logits": "ACT328",
    "softmax-over-rows": "ACT332",
    "mask-inverted": "ACT329",
    "mask-of-the-next-step": "ACT331",
}

GAMMA, LAM, CLIP = 0.97, 0.95, 0.2
STEPS, ROUNDS, SHELVES, ROOM = 192, 5, 5, 6


class Shelves(gym.Env):
    def __init__(self) -> None:
        self.observation_space = gym.spaces.Box(0.0, 1.0, (SHELVES + 3,), np.float32)
        self.action_space = gym.spaces.Discrete(SHELVES)

    def _seen(self):
        size = np.eye(3, dtype=np.float32)[self.box - 1]
        return np.concatenate([self.load / ROOM, size]).astype(np.float32)

    def _fits(self):
        return self.load + self.box <= ROOM

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.load, self.box = self.np_random.uniform(0, 4, SHELVES), int(self.np_random.integers(1, 4))
        return self._seen(), {"fits": self._fits()}

    def step(self, action):
        if not self._fits()[action]:
            return self._seen(), -1.0, True, False, {"fits": self._fits()}
        self.load[action] += self.box
        reward = 0.1 * float(self.load[action]) if self.load[action] < ROOM - 0.5 else 1.0
        self.box = int(self.np_random.integers(1, 4))
        full = not self._fits().any()
        return self._seen(), reward, full, False, {"fits": self._fits() | full}


class Network(nn.Module):
    def __init__(self, fault: str) -> None:
        super().__init__()
        self.fault = fault
        self.body = nn.Sequential(nn.Linear(SHELVES + 3, 32), nn.Tanh())
        self.policy, self.value = nn.Linear(32, SHELVES), nn.Linear(32, 1)

    def forward(self, seen, fits):
        inner = self.body(seen)
        logits = self.policy(inner)
        if self.fault == "mask-times-logits":
            logits = logits * fits
        else:
            logits = logits.masked_fill(fits if self.fault == "mask-inverted" else ~fits, -1e8)
        if self.fault == "softmax-over-rows" and len(seen) > 1:
            return Categorical(probs=logits.softmax(dim=0) + 1e-6), self.value(inner).squeeze(-1)
        return Categorical(logits=logits), self.value(inner).squeeze(-1)


def program(fault: str = "") -> None:
    torch.manual_seed(2)
    env, network = Shelves(), Network(fault)
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-3)
    obs, info = env.reset(seed=2)
    fits = info["fits"]
    for _ in range(ROUNDS):
        seen, masks = torch.zeros(STEPS, SHELVES + 3), torch.zeros(STEPS, SHELVES, dtype=torch.bool)
        actions = torch.zeros(STEPS, dtype=torch.long)
        log_probs, rewards, dones, values = (torch.zeros(STEPS) for _ in range(4))
        for t in range(STEPS):
            seen[t], masks[t] = torch.as_tensor(obs), torch.as_tensor(fits)
            with torch.no_grad():
                policy, values[t] = network(seen[t : t + 1], masks[t : t + 1])
                action = policy.sample()
            actions[t], log_probs[t] = action, policy.log_prob(action)
            obs, rewards[t], ended, _, info = env.step(int(action))
            dones[t], fits = float(ended), info["fits"]
            if fault == "mask-of-the-next-step":
                masks[t] = torch.as_tensor(fits)
            if ended:
                obs, info = env.reset()
                fits = info["fits"]
        with torch.no_grad():
            value = network(torch.as_tensor(obs)[None], torch.as_tensor(fits)[None])[1][0]
        advantage, carried = torch.zeros(STEPS), torch.zeros(())
        for t in reversed(range(STEPS)):
            error = rewards[t] + GAMMA * value * (1 - dones[t]) - values[t]
            carried = error + GAMMA * LAM * (1 - dones[t]) * carried
            advantage[t], value = carried, values[t]
        target = advantage + values
        for _ in range(3):
            for rows in torch.randperm(STEPS).split(64):
                policy, told = network(seen[rows], masks[rows])
                gain = (advantage[rows] - advantage[rows].mean()) / (advantage[rows].std() + 1e-8)
                ratio = torch.exp(policy.log_prob(actions[rows]) - log_probs[rows])
                surrogate = torch.min(ratio * gain, ratio.clamp(1 - CLIP, 1 + CLIP) * gain).mean()
                loss = 0.5 * (told - target[rows]).pow(2).mean() - surrogate - 0.01 * policy.entropy().mean()
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(network.parameters(), 0.5)
                optimizer.step()
