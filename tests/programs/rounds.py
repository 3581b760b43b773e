"""Small programs that play and learn in turns, each with one fault in what acts, what learns, or when; or none."""

from __future__ import annotations

import copy
from functools import partial
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
        [partial(Drift, seed, limit=10**6) for seed in range(lanes)],
        autoreset_mode=gym.vector.AutoresetMode.SAME_STEP,
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
                drawn: Any = Categorical(logits=actor(tensor(obs)))
                action = drawn.sample()
            after, reward, ended, _, _ = envs.step(action.numpy())
            rows.append([obs, action, reward, ended])
            obs = after
        with torch.no_grad():
            ahead = critic(tensor(obs))[:, 0]
        for row in reversed(rows):
            row[2] = ahead = tensor(row[2]) + 0.9 * (1 - tensor(row[3])) * ahead
        s, a, r = (torch.cat([tensor(row[each]) for row in rows]) for each in range(3))
        policy.train(fault != "batch norm never trained")
        for _ in range(epochs):
            value = critic(s)[:, 0]
            dist: Any = Categorical(logits=policy(s))
            policy_loss = -(dist.log_prob(a) * (r - value.detach())).mean()
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


def dueling_dqn(fault: str = "", *, steps: int = 200) -> tuple[nn.Module, optim.Optimizer]:
    """A DQN that learns in every fourth step. What it made is returned: a script has it until its end."""
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    env = Drift()
    q, slow = Dueling(fault == "mean over all"), Dueling(fault == "mean over all")
    slow.load_state_dict(q.state_dict())
    optimizer = optim.Adam(q.parameters(), lr=1e-3)
    waits = 2 * steps if fault == "waits for ever" else 32
    memory: list[Any] = []
    obs, _ = env.reset()
    for step in range(steps):
        action = int(rng.integers(3))
        if step >= waits:
            with torch.no_grad():
                action = int(q(tensor(obs)[None]).argmax())
        after, reward, terminated, truncated, _ = env.step(action)
        memory.append((obs, action, reward, after, terminated))
        obs = env.reset()[0] if terminated or truncated else after
        if step < waits or step % 4:
            continue
        batch = [memory[each] for each in rng.integers(0, len(memory), 64)]
        s, a, r, following, ended = (tensor([row[each] for row in batch]) for each in range(5))
        with torch.no_grad():
            target = r + 0.9 * (1 - ended) * slow(following).max(1).values
        loss: Any = (q(s).gather(1, a.long()[:, None])[:, 0] - target).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return q, optimizer


def values(fault: str = "", *, steps: int = 60) -> None:
    """Values of chosen actions, fitted to returns between 5 and 20."""
    draw = torch.Generator().manual_seed(0)
    torch.manual_seed(0)
    ends: dict[str, list[nn.Module]] = {"softmax": [nn.Softmax(dim=-1)], "tanh": [nn.Tanh()]}
    q = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 3), *ends.get(fault, []))
    optimizer = optim.Adam(q.parameters(), lr=3e-2)
    for _ in range(steps):
        rows = torch.randn(64, 4, generator=draw)
        chosen = torch.randint(3, (64, 1), generator=draw)
        returns = 5 + 15 * torch.rand(64, generator=draw)
        loss: Any = nn.functional.mse_loss(q(rows).gather(1, chosen)[:, 0], returns)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
