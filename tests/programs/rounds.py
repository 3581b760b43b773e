"""Small programs that play and learn in turns, each with one fault in what acts, what learns, or when; or none."""

from __future__ import annotations

import copy
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from torch import Tensor, nn, optim
from torch.distributions import Categorical

from tests.programs.data import WIDTH, Drift, net, tensor


def normed(outputs: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(WIDTH, 16), nn.BatchNorm1d(16), nn.Tanh(), nn.Linear(16, outputs))


def actor_critic(fault: str = "", *, rounds: int = 16, lanes: int = 8, horizon: int = 8, epochs: int = 4) -> None:
    """A policy gradient in rounds: a rollout of all lanes, then some updates on it."""
    torch.manual_seed(0)
    envs = gym.vector.SyncVectorEnv(
        [lambda seed=seed: Drift(seed) for seed in range(lanes)], autoreset_mode=gym.vector.AutoresetMode.SAME_STEP
    )
    policy, critic = normed(3) if "batch norm" in fault else net(3), net(1)
    actor = copy.deepcopy(policy) if "copy acts" in fault else policy
    optimizer = optim.Adam([*policy.parameters(), *critic.parameters()], lr=3e-3)
    obs, _ = envs.reset()
    for _ in range(rounds):
        actor.train(fault == "batch norm acts in training mode")
        if fault == "copy acts, filled each round":
            actor.load_state_dict(policy.state_dict())
        rows: list[Any] = []
        for _ in range(horizon):
            with torch.no_grad():
                action = Categorical(logits=actor(tensor(obs))).sample()
            after, reward, _, _, _ = envs.step(action.numpy())
            rows.append([obs, action, reward])
            obs = after
        s, a, r = (torch.cat([tensor(row[each]) for row in rows]) for each in range(3))
        policy.train(fault != "batch norm never trained")
        for _ in range(epochs):
            value = critic(s)[:, 0]
            policy_loss = -(Categorical(logits=policy(s)).log_prob(a) * (r - value.detach())).mean()
            value_loss: Any = (value - r).square().mean()
            optimizer.zero_grad()
            (value_loss if fault == "policy loss not added" else policy_loss + value_loss).backward()
            optimizer.step()


class Dueling(nn.Module):
    def __init__(self, over_all: bool) -> None:
        super().__init__()
        self.over_all = over_all
        self.value, self.gain = net(1), net(3)

    def forward(self, rows: Tensor) -> Tensor:
        gain = self.gain(rows)
        centre = gain.mean() if self.over_all else gain.mean(dim=1, keepdim=True)
        return torch.as_tensor(self.value(rows) + gain - centre)


def double_dqn(fault: str = "", *, steps: int = 120) -> None:
    """A DQN that chooses the next action with the network that learns."""
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    env = Drift()
    q, slow = Dueling(fault == "mean over all"), Dueling(fault == "mean over all")
    slow.load_state_dict(q.state_dict())
    optimizer = optim.Adam(q.parameters(), lr=1e-3)
    waits = 10 * steps if fault == "waits for ever" else 40
    memory: list[Any] = []
    obs, _ = env.reset()
    for _ in range(steps):
        with torch.no_grad():
            action = int(rng.integers(3)) if rng.random() < 0.2 else int(q(tensor(obs)[None]).argmax())
        after, reward, terminated, truncated, _ = env.step(action)
        memory.append((obs, action, reward, after, terminated))
        obs = env.reset()[0] if terminated or truncated else after
        if len(memory) < waits:
            continue
        batch = [memory[each] for each in rng.integers(0, len(memory), 32)]
        s, a, r, following, ended = (tensor([row[each] for row in batch]) for each in range(5))
        with torch.no_grad():
            best = q(following).argmax(1, keepdim=True)
            target = r + 0.9 * (1 - ended) * slow(following).gather(1, best)[:, 0]
        loss: Any = (q(s).gather(1, a.long()[:, None])[:, 0] - target).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def values(fault: str = "", *, steps: int = 60) -> None:
    """Values of chosen actions, fitted to returns between 5 and 20."""
    draw = torch.Generator().manual_seed(0)
    torch.manual_seed(0)
    last = {"softmax": [nn.Softmax(dim=-1)], "tanh": [nn.Tanh()]}.get(fault, [])
    q = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 3), *last)
    optimizer = optim.Adam(q.parameters(), lr=3e-2)
    for _ in range(steps):
        rows = torch.randn(64, 4, generator=draw)
        chosen = torch.randint(3, (64, 1), generator=draw)
        returns = 5 + 15 * torch.rand(64, generator=draw)
        loss: Any = (q(rows).gather(1, chosen)[:, 0] - returns).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
