"""A2C in slices, each from the checkpoint of the one before; observations are normalised by running statistics."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from torch import Tensor, nn

FAULTS = {
    "rate-begins-anew": "CKP350",
    "statistics-not-saved": "NRM360",
    "evaluation-not-normalised": "NRM361",
    "evaluation-in-a-lane": "EVA354",
    "clock-terminates": "ENV351",
    "one-array-handed-out": "ENV352",
    "clipped-to-some": "PRE307",
}
LANES, LENGTH, SLICES, UPDATES, LIMIT = 12, 16, 3, 7, 40
GAMMA, RATE = 0.97, 3e-3


class Ledge(gym.Env[Any, Any]):
    """Stay on a ledge in gusts of wind. Place and speed are told in centimetres."""

    def __init__(self, fault: str = "") -> None:
        self.observation_space = spaces.Box(-500, 500, (2,), dtype=np.float32)
        self.action_space = spaces.Discrete(2)
        self.fault = fault
        self.array = np.zeros(2, dtype=np.float32)

    def _look(self) -> Any:
        seen = np.array([100 * self.place, 100 * self.speed], dtype=np.float32)
        if self.fault == "clipped-to-some":
            seen = np.clip(seen, -3, 3)
        if self.fault != "one-array-handed-out":
            return seen
        self.array[:] = seen
        return self.array

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.place, self.speed, self.time = self.np_random.uniform(-0.8, 0.8), self.np_random.normal() * 0.1, 0
        return self._look(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        push = 0.03 if int(action) else -0.03
        self.speed = 0.9 * self.speed + push + 0.03 * float(self.np_random.normal())
        self.place += self.speed
        self.time += 1
        fell, late = abs(self.place) > 1.8, self.time >= LIMIT
        if self.fault == "clock-terminates":
            return self._look(), 1.0 - abs(self.place), fell or late, False, {}
        return self._look(), 1.0 - abs(self.place), fell, late and not fell, {}


class Normaliser:
    def __init__(self) -> None:
        self.mean, self.var, self.count = np.zeros(2), np.ones(2), 1e-4

    def update(self, rows: Any) -> None:
        total = self.count + len(rows)
        delta = rows.mean(0) - self.mean
        spread = self.var * self.count + rows.var(0) * len(rows) + delta**2 * self.count * len(rows) / total
        self.mean, self.var, self.count = self.mean + delta * len(rows) / total, spread / total, total

    def __call__(self, obs: Any) -> Tensor:
        return torch.as_tensor((obs - self.mean) / np.sqrt(self.var + 1e-8), dtype=torch.float32)


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(2, 32), nn.Tanh())
        self.policy, self.value = nn.Linear(32, 2), nn.Linear(32, 1)

    def forward(self, obs: Tensor) -> tuple[Tensor, Tensor]:
        hidden = self.body(obs)
        return self.policy(hidden), self.value(hidden).squeeze(-1)


class Agent:
    def __init__(self, fault: str) -> None:
        self.fault = fault
        self.envs = SyncVectorEnv([lambda: Ledge(fault)] * LANES, autoreset_mode=AutoresetMode.SAME_STEP)
        self.test = self.envs.envs[0] if fault == "evaluation-in-a-lane" else Ledge(fault)
        self.net, self.norm, self.updates = Net(), Normaliser(), 0
        self.optimizer = torch.optim.Adam(self.net.parameters(), RATE)

    def save(self, path: Path) -> None:
        kept = {"net": self.net.state_dict(), "optimizer": self.optimizer.state_dict()}
        if self.fault != "statistics-not-saved":
            kept["norm"] = {"mean": self.norm.mean.tolist(), "var": self.norm.var.tolist(), "count": self.norm.count}
        if self.fault != "rate-begins-anew":
            kept["updates"] = self.updates
        torch.save(kept, path)

    def load(self, path: Path) -> None:
        kept = torch.load(path)
        self.net.load_state_dict(kept["net"])
        self.optimizer.load_state_dict(kept["optimizer"])
        if self.fault != "statistics-not-saved":
            self.norm.mean, self.norm.var = np.array(kept["norm"]["mean"]), np.array(kept["norm"]["var"])
            self.norm.count = kept["norm"]["count"]
        if self.fault != "rate-begins-anew":
            self.updates = kept["updates"]

    def train(self, updates: int, seed: int) -> None:
        obs, _ = self.envs.reset(seed=seed)
        for _ in range(updates):
            for group in self.optimizer.param_groups:
                group["lr"] = RATE * (1 - self.updates / (SLICES * UPDATES))
            obs = self.update(obs)
            self.updates += 1
            if self.updates % 2 == 0:
                self.evaluate()

    def update(self, obs: Any) -> Any:
        seen, logps, values, entropies, rewards, ends = [], [], [], [], [], []
        for _ in range(LENGTH):
            seen.append(obs)
            scores, value = self.net(self.norm(obs))
            dist = torch.distributions.Categorical(logits=scores)
            action = dist.sample()
            logps.append(dist.log_prob(action))
            entropies.append(dist.entropy())
            values.append(value)
            obs, reward, ended, cut, infos = self.envs.step(action.numpy())
            reward = torch.as_tensor(reward, dtype=torch.float32)
            for lane in np.flatnonzero(cut):
                with torch.no_grad():
                    reward[lane] += GAMMA * self.net(self.norm(infos["final_obs"][lane][None]))[1][0]
            rewards.append(reward)
            ends.append(torch.as_tensor(ended | cut, dtype=torch.float32))
        with torch.no_grad():
            carried = self.net(self.norm(obs))[1]
        targets = []
        for reward, end in zip(reversed(rewards), reversed(ends), strict=True):
            carried = reward + GAMMA * carried * (1 - end)
            targets.append(carried)
        returns, baseline = torch.stack(targets[::-1]), torch.stack(values)
        loss = -(torch.stack(logps) * (returns - baseline.detach())).mean()
        loss = loss + 0.5 * ((returns - baseline) ** 2).mean() - 0.01 * torch.stack(entropies).mean()
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.net.parameters(), 0.5)
        self.optimizer.step()
        self.norm.update(np.concatenate(seen))
        return obs

    @torch.no_grad()
    def evaluate(self) -> float:
        total = 0.0
        for episode in range(2):
            obs, _ = self.test.reset(seed=77 + episode)
            over = False
            while not over:
                given = torch.as_tensor(obs) if self.fault == "evaluation-not-normalised" else self.norm(obs)
                obs, reward, ended, cut, _ = self.test.step(int(self.net(given[None])[0].argmax(-1)))
                total += reward
                over = ended or cut
        return total / 2


def program(fault: str = "") -> None:
    torch.manual_seed(0)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a2c.pt"
        for each in range(SLICES):
            agent = Agent(fault)
            if path.exists():
                agent.load(path)
            agent.train(UPDATES, seed=1000 * each)
            agent.save(path)
