"""Small learners whose targets are made in a known way: REINFORCE, an actor-critic with rollouts, and a DQN."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical


class Wander(gym.Env[Any, Any]):
    """A point that drifts, and is paid for where it is. Ends by chance; no observation comes twice."""

    observation_space = gym.spaces.Box(-np.inf, np.inf, (3,), np.float32)
    action_space = gym.spaces.Discrete(2)

    def __init__(self, seed: int = 0, limit: int = 30) -> None:
        self.rng, self.limit = np.random.default_rng(seed), limit

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        self.x, self.t = self.rng.normal(size=3), 0
        return self.x.astype(np.float32), {}

    def step(self, action: Any) -> Any:
        self.x = 0.8 * self.x + 0.5 * self.rng.normal(size=3) + 0.1 * (int(action) - 0.5)
        self.t += 1
        ended = bool(self.rng.random() < 0.08)
        return self.x.astype(np.float32), float(self.x[0]), ended, self.t >= self.limit and not ended, {}


def tensor(rows: Any) -> torch.Tensor:
    return torch.as_tensor(np.asarray(rows, dtype=np.float32))


def reinforce(*, batches: int = 3, reset: bool = True, sign: float = -1.0, steps: int = 50) -> None:
    torch.manual_seed(0)
    env, policy = Wander(), nn.Linear(3, 2)
    optimizer = torch.optim.SGD(policy.parameters(), 0.01)
    for _ in range(batches):
        logps: list[Any] = []
        rewards: list[float] = []
        dones: list[bool] = []
        obs, _ = env.reset()
        done = False
        while len(rewards) < steps or not done:
            dist = Categorical(logits=policy(tensor(obs)[None]))
            action = dist.sample()  # type: ignore[no-untyped-call]
            logps.append(dist.log_prob(action))  # type: ignore[no-untyped-call]
            obs, reward, ended, cut, _ = env.step(int(action))
            done = ended or cut
            rewards.append(reward)
            dones.append(done)
            if done:
                obs, _ = env.reset()
        running, made = 0.0, []
        for reward, over in zip(reversed(rewards), reversed(dones), strict=True):
            running = reward + 0.9 * running * (not over if reset else 1)
            made.append(running)
        loss = (sign * torch.cat(logps) * tensor(made[::-1])).mean()
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()


def actor_critic(
    *, rollouts: int = 4, length: int = 20, lanes: int = 4, mask: bool = True, bootstrap: bool = True
) -> None:
    """With generalised advantages, from environments that are stepped in turn by a vector environment."""
    torch.manual_seed(0)
    envs = gym.vector.SyncVectorEnv(
        [lambda seed=seed: Wander(seed) for seed in range(lanes)],  # type: ignore[misc]
        autoreset_mode=gym.vector.AutoresetMode.SAME_STEP,
    )
    policy, critic = nn.Linear(3, 2), nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1))
    optimizer = torch.optim.SGD([*policy.parameters(), *critic.parameters()], 0.01)
    obs, _ = envs.reset()
    for _ in range(rollouts):
        seen, actions, rewards, dones, values = [], [], [], [], []
        for _ in range(length):
            with torch.no_grad():
                action = Categorical(logits=policy(tensor(obs))).sample()  # type: ignore[no-untyped-call]
                values.append(critic(tensor(obs)).flatten())
            seen.append(tensor(obs))
            actions.append(action)
            obs, reward, ended, cut, _ = envs.step(action.numpy())
            rewards.append(tensor(reward))
            dones.append(tensor(ended | cut))
        with torch.no_grad():
            following = critic(tensor(obs)).flatten() * bootstrap
        advantages: list[Any] = []
        carry = torch.zeros(lanes)
        for t in reversed(range(length)):
            going = 1.0 - dones[t] if mask else torch.ones(lanes)
            carry = rewards[t] + 0.95 * following * going - values[t] + 0.95 * 0.9 * going * carry
            advantages.insert(0, carry)
            following = values[t]
        weight = torch.cat(advantages)
        target = weight + torch.cat(values)
        flat = torch.cat(seen)
        logp = Categorical(logits=policy(flat)).log_prob(torch.cat(actions))  # type: ignore[no-untyped-call]
        weight = (weight - weight.mean()) / (weight.std() + 1e-8)
        loss = -(logp * weight).mean() + 0.5 * ((critic(flat).flatten() - target) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    envs.close()


def dqn(*, steps: int = 160, mask: bool = True) -> None:
    torch.manual_seed(0)
    draw = np.random.default_rng(0)
    env, online, target = Wander(), nn.Linear(3, 2), nn.Linear(3, 2)
    optimizer = torch.optim.SGD(online.parameters(), 0.01)
    memory: list[Any] = []
    obs, _ = env.reset()
    for step in range(steps):
        with torch.no_grad():
            greedy = int(online(tensor(obs)[None]).argmax())
        action = greedy if draw.random() > 0.3 else int(draw.integers(2))
        following, reward, ended, cut, _ = env.step(action)
        memory.append((obs, action, reward, following, ended))
        obs = env.reset()[0] if ended or cut else following
        if step >= 60 and step % 4 == 0:
            before, chosen, paid, after, over = zip(
                *(memory[at] for at in draw.integers(len(memory), size=32)), strict=True
            )
            with torch.no_grad():
                best = target(tensor(after)).max(dim=1).values
                aim = tensor(paid) + 0.9 * best * (1.0 - tensor(over) if mask else 1.0)
            said = online(tensor(before)).gather(1, torch.as_tensor(chosen)[:, None])[:, 0]
            loss = nn.functional.smooth_l1_loss(said, aim)
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
