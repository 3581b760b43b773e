"""An actor-critic behind statistics of observations that go on moving; with one fault, or none."""

from __future__ import annotations

from functools import partial

import gymnasium as gym
import numpy as np
import torch
from torch import nn
from torch.distributions import Normal

GAMMA, LAMBDA, LANES, TIMES, LIMIT = 0.95, 0.9, 4, 24, 10


class Rail(gym.Env):
    """Go to the middle of a rail, told in centimetres; it ends at its ends."""

    def __init__(self) -> None:
        self.observation_space = gym.spaces.Box(-np.inf, np.inf, (2,), np.float32)
        self.action_space = gym.spaces.Box(-1.0, 1.0, (1,), np.float32)

    def _seen(self):
        return np.array([100 * self.place, self.speed], np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.place, self.speed, self.time = self.np_random.uniform(-1, 1), 0.0, 0
        return self._seen(), {}

    def step(self, action):
        self.speed = 0.7 * self.speed + 0.2 * float(np.clip(action[0], -1, 1))
        self.place += self.speed
        self.time += 1
        return self._seen(), -abs(self.place), abs(self.place) > 1.5, self.time >= LIMIT, {}


class Statistics:
    def __init__(self) -> None:
        self.mean, self.square, self.count = np.zeros(2), np.ones(2), 1.0

    def learn(self, seen):
        self.count += len(seen)
        self.mean += (seen - self.mean).sum(axis=0) / self.count
        self.square += (seen**2 - self.square).sum(axis=0) / self.count

    def __call__(self, seen):
        spread = np.sqrt(np.maximum(self.square - self.mean**2, 1e-4))
        return torch.tensor((seen - self.mean) / spread, dtype=torch.float32)


def program(fault: str = "", rounds: int = 10, *, led_to: bool = False) -> None:
    """led_to: after each step the critic is asked about what all lanes were led to; statistics stay as they began."""
    torch.manual_seed(0)
    envs = gym.vector.SyncVectorEnv([partial(Rail)] * LANES, autoreset_mode=gym.vector.AutoresetMode.SAME_STEP)
    policy = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1))
    critic = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1))
    optimizer = torch.optim.Adam([*policy.parameters(), *critic.parameters()], lr=3e-3)
    statistics = Statistics()
    raw, _ = envs.reset(seed=0)
    for _ in range(rounds):
        seen, given, acted = torch.zeros(TIMES, LANES, 2), torch.zeros(TIMES, LANES, 2), torch.zeros(TIMES, LANES, 1)
        paid, over, value = torch.zeros(TIMES, LANES), torch.zeros(TIMES, LANES), torch.zeros(TIMES, LANES)
        ahead = torch.zeros(TIMES, LANES)
        for time in range(TIMES):
            if not led_to or statistics.count == 1.0:
                statistics.learn(raw)
            given[time], seen[time] = statistics(raw), torch.tensor(raw)
            with torch.no_grad():
                acted[time] = Normal(policy(given[time]), 0.5).sample()
                value[time] = critic(given[time]).squeeze(-1)
            raw, reward, terminated, truncated, info = envs.step(acted[time].clamp(-1, 1).numpy())
            paid[time], over[time] = torch.tensor(reward), torch.tensor(terminated | truncated).float()
            reached = raw.copy()
            for lane in np.flatnonzero(truncated | terminated):
                reached[lane] = raw[lane] if fault == "limit asks the reset" else info["final_obs"][lane]
            if led_to:
                with torch.no_grad():
                    ahead[time] = critic(statistics(reached)).squeeze(-1) * torch.tensor(~terminated)
            for lane in np.flatnonzero(truncated & ~terminated & (not led_to)):
                final = raw[lane] if fault == "limit asks the reset" else info["final_obs"][lane]
                with torch.no_grad():
                    paid[time, lane] += GAMMA * critic(statistics(final[None])).item()
            if fault == "stored after the step":
                given[time] = statistics(raw)
        if fault == "normalised when learned":  # no fault
            given = statistics(seen.numpy())
        with torch.no_grad():
            following = critic(statistics(raw)).squeeze(-1)
        advantage, carried = torch.zeros(TIMES, LANES), torch.zeros(LANES)
        for time in reversed(range(TIMES)):
            onward = ahead[time] if led_to else following * (1 - over[time])
            error = paid[time] + GAMMA * onward - value[time]
            carried = error + GAMMA * LAMBDA * (1 - over[time]) * carried
            advantage[time], following = carried, value[time]
        target = (advantage + value).reshape(-1)
        for rows in torch.randperm(TIMES * LANES).split(48):
            chosen = Normal(policy(given.reshape(-1, 2)[rows]), 0.5)
            scores = chosen.log_prob(acted.reshape(-1, 1)[rows]).sum(-1)
            wrong = critic(given.reshape(-1, 2)[rows]).squeeze(-1) - target[rows]
            loss = -(scores * advantage.reshape(-1)[rows]).mean() + 0.5 * wrong.pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
