"""REINFORCE with a baseline; the environment normalises what it shows, and the policy is evaluated now and then."""

from __future__ import annotations

import copy
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from gymnasium import spaces
from gymnasium.wrappers import NormalizeObservation, NormalizeReward
from torch import Tensor, nn

FAULTS = {
    "evaluation-env-bare": "NRM362",
    "evaluation-env-normalises-anew": "NRM362",
    "encoder-without-graph": "GRA303",
    "encoder-cut-off": "GRA305",
    "returns-left-behind": "NRM363",
    "evaluation-env-updates": "NRM305",
    "own-wrapper-normalises-anew": "NRM362",
    "own-wrapper-counts-anew": "NRM362",
}
GAMMA, LENGTH, UPDATES = 0.95, 20, 12


class Tank(gym.Env[Any, Any]):
    """Keep the level of a tank near 3 while it rains; level and rain are told in their own units."""

    def __init__(self) -> None:
        self.observation_space = spaces.Box(-np.inf, np.inf, (2,), dtype=np.float32)
        self.action_space = spaces.Discrete(2)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.level, self.rain, self.time = self.np_random.uniform(1, 5), self.np_random.uniform(0, 1), 0
        return self._look(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.level += 0.5 * self.rain - (0.6 if int(action) else 0.0)
        self.rain = float(np.clip(self.rain + 0.2 * self.np_random.normal(), 0, 1))
        self.time += 1
        return self._look(), 1.0 - abs(self.level - 3.0), False, self.time >= LENGTH, {}

    def _look(self) -> Any:
        return np.array([self.level, self.rain], dtype=np.float32)


class Scaled(gym.ObservationWrapper[Any, Any, Any]):
    """Written by hand: mean and squares in a dict, which the one of the evaluation may be given."""

    def __init__(self, env: Any, kept: dict[str, Any] | None = None) -> None:
        super().__init__(env)
        self.learns, self.past = kept is None, np.zeros(2)
        self.kept = kept or {"count": 1e-3, "mean": np.zeros(2), "squares": np.zeros(2)}

    def observation(self, observation: Any) -> Any:
        kept, self.past = self.kept, np.asarray(observation, dtype=float)
        if self.learns:
            kept["count"] += 1
            away = self.past - kept["mean"]
            kept["mean"] = kept["mean"] + away / kept["count"]
            kept["squares"] = kept["squares"] + away * (self.past - kept["mean"])
        spread = np.sqrt(kept["squares"] / kept["count"]) + 1e-2
        return np.clip((self.past - kept["mean"]) / spread, -5, 5).astype(np.float32)


class Encoder(nn.Module):
    def __init__(self, fault: str) -> None:
        super().__init__()
        self.layers, self.fault = nn.Sequential(nn.Linear(2, 24), nn.Tanh()), fault

    def forward(self, obs: Tensor) -> Tensor:
        hidden: Tensor = self.layers(obs)
        return hidden.detach() if self.fault == "encoder-without-graph" else hidden


class Net(nn.Module):
    def __init__(self, fault: str) -> None:
        super().__init__()
        self.encoder, self.policy, self.value = Encoder(fault), nn.Linear(24, 2), nn.Linear(24, 1)

    def act(self, obs: Tensor) -> Tensor:
        scores: Tensor = self.policy(self.encoder(obs))
        return scores

    def both(self, obs: Tensor) -> tuple[Tensor, Tensor]:
        hidden = self.encoder(obs)
        if self.encoder.fault == "encoder-cut-off":
            hidden = hidden.detach()
        return self.policy(hidden), self.value(hidden).squeeze(-1)


def tensor(obs: Any) -> Tensor:
    return torch.as_tensor(np.asarray(obs), dtype=torch.float32)


@torch.no_grad()
def evaluate(net: Net, env: Any, seed: int) -> float:
    total = 0.0
    for episode in range(3):
        obs, _ = env.reset(seed=seed + episode)
        over = False
        while not over:
            obs, reward, ended, cut, _ = env.step(int(net.act(tensor(obs)[None]).argmax(-1)))
            total += float(reward)
            over = ended or cut
    return total / 3


def program(fault: str = "") -> None:
    torch.manual_seed(0)
    env: Any = Tank() if fault == "no-normaliser" else NormalizeObservation(Tank())
    bare = fault in ("evaluation-env-bare", "no-normaliser")
    test: Any = Tank() if bare else NormalizeObservation(Tank())
    if fault.startswith("own-wrapper"):
        env = Scaled(Tank())
        kept = None if fault == "own-wrapper-counts-anew" else env.kept
        test = Scaled(Tank(), copy.deepcopy(kept) if fault.endswith("anew") else kept)
    if fault == "returns-left-behind":
        env = NormalizeObservation(NormalizeReward(Tank(), gamma=GAMMA))
    net = Net(fault)
    optimizer = torch.optim.Adam(net.parameters(), 3e-3)
    for update in range(UPDATES):
        if fault == "returns-left-behind" and update == UPDATES // 2:
            before = env
            env = NormalizeObservation(NormalizeReward(Tank(), gamma=GAMMA))
            env.obs_rms = copy.deepcopy(before.obs_rms)
        logps, values, rewards = [], [], []
        for episode in range(3):
            obs, _ = env.reset(seed=100 * update + episode)
            over, start = False, len(rewards)
            while not over:
                scores, value = net.both(tensor(obs)[None])
                dist = torch.distributions.Categorical(logits=scores)
                action = dist.sample()
                logps.append(dist.log_prob(action)[0])
                values.append(value[0])
                obs, reward, ended, cut, _ = env.step(int(action))
                rewards.append(float(reward))
                over = ended or cut
            with torch.no_grad():
                carried = float(net.both(tensor(obs)[None])[1])
            for step in reversed(range(start, len(rewards))):
                carried = rewards[step] + GAMMA * carried
                rewards[step] = carried
        returns, baseline = torch.tensor(rewards), torch.stack(values)
        loss = -(torch.stack(logps) * (returns - baseline.detach())).mean() + 0.5 * (returns - baseline).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if update % 3 == 2 and fault != "no-evaluation":
            if fault != "evaluation-env-normalises-anew" and not bare and not fault.startswith("own"):
                test.obs_rms, test.update_running_mean = env.obs_rms, fault == "evaluation-env-updates"
            evaluate(net, test, seed=7000)
