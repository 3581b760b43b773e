"""A Gaussian policy in the style of Spinning Up: whole paths, two optimizers, a density that is written out by hand."""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import nn

FAULTS = {
    "carried-by-lambda": "ADV351",
    "values-swapped": "ADV352",
    "lambda-in-the-td-error": "ADV353",
    "divergence-of-the-same-call": "POL351",
    "density-without-deviation": "ACT355",
    "deviation-not-given-to-the-optimizer": "ACT356",
    "deviation-is-a-tensor": "OPT520",
    "clipped-action-kept": "ACT357",
    "rewards-discounted-before": "DIS352",
}

GAMMA, LAM, CLIP = 0.98, 0.95, 0.2
STEPS, ROUNDS = 240, 8


class Points:
    """A mass on a line that two engines push. It is lost beyond 2; a path takes 40 steps at most."""

    def __init__(self) -> None:
        self.draw = np.random.default_rng(0)

    def reset(self):
        self.x, self.v, self.t = self.draw.uniform(-1, 1), self.draw.uniform(-0.3, 0.3), 0
        return self._seen()

    def _seen(self):
        return np.array([self.x, self.v, np.sin(self.t / 10)], dtype=np.float32)

    def step(self, action):
        push = np.clip(action, -1, 1)
        self.v += 0.1 * float(push[0]) - 0.05 * float(push[1])
        self.x += 0.1 * self.v
        self.t += 1
        reward = 1.0 - abs(self.x) - 0.1 * abs(self.v) - 0.02 * float((push**2).sum())
        return self._seen(), reward, abs(self.x) > 1.2, {"timeout": self.t >= 40}


def summed(numbers, factor):
    found, carried = np.zeros(len(numbers), dtype=np.float32), 0.0
    for i in reversed(range(len(numbers))):
        carried = numbers[i] + factor * carried
        found[i] = carried
    return found


def path(fault, rewards, values, last):
    """Advantages and returns."""
    reward, value = np.append(rewards, last), np.append(values, last)
    one, other = value[1:], value[:-1]
    if fault == "values-swapped":
        one, other = other, one
    error = reward[:-1] + (LAM if fault == "lambda-in-the-td-error" else GAMMA) * one - other
    if fault == "rewards-discounted-before":
        reward = reward * GAMMA ** np.arange(len(reward), dtype=np.float32)
    return summed(error, LAM if fault == "carried-by-lambda" else GAMMA * LAM), summed(reward, GAMMA)[:-1]


def network(size):
    return nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, size))


def program(fault: str = "", *, style: str = "") -> None:
    """A style that is sound: "deviation-held-as-a-tensor"."""
    torch.manual_seed(1)
    env = Points()
    mean, critic = network(2), network(1)
    log_std = nn.Parameter(torch.full((2,), -0.5))
    if fault == "deviation-is-a-tensor" or style == "deviation-held-as-a-tensor":
        log_std = torch.full((2,), -0.5, requires_grad=True)
    held = list(mean.parameters())
    if fault not in ("deviation-not-given-to-the-optimizer", "deviation-is-a-tensor"):
        held.append(log_std)
    actor_optimizer = torch.optim.Adam(held, lr=3e-3)
    critic_optimizer = torch.optim.Adam(critic.parameters(), lr=3e-3)

    def density(action, centre):
        found = -0.5 * ((action - centre) / log_std.exp()) ** 2 - 0.5 * math.log(2 * math.pi)
        return (found if fault == "density-without-deviation" else found - log_std).sum(-1)

    def divergence(one, one_log, other, other_log):
        squares = (2 * (one_log - other_log)).exp() + ((one - other) / other_log.exp()) ** 2
        return (other_log - one_log + 0.5 * squares - 0.5).sum(-1)

    obs = env.reset()
    for _ in range(ROUNDS):
        kept, found, paths = [], [], []
        for t in range(STEPS):
            with torch.no_grad():
                centre, value = mean(torch.as_tensor(obs)), critic(torch.as_tensor(obs)).item()
                action = centre + log_std.exp() * torch.randn(2)
                if fault == "clipped-action-kept":
                    action = action.clamp(-1, 1)
                log_prob = density(action, centre)
            after, reward, lost, info = env.step(action.numpy())
            kept.append((torch.as_tensor(obs), action, log_prob, centre))
            found.append((reward, value))
            obs = after
            if lost or info["timeout"] or t + 1 == STEPS:
                with torch.no_grad():
                    last = 0.0 if lost else critic(torch.as_tensor(obs)).item()
                paths.append(path(fault, *np.array(found, dtype=np.float32).T, last))
                found, obs = [], env.reset()
        seen, actions, old, centres = (torch.stack(each) for each in zip(*kept, strict=True))
        gain, goal = (torch.as_tensor(np.concatenate(each)) for each in zip(*paths, strict=True))
        gain = (gain - gain.mean()) / (gain.std() + 1e-8)
        deviation = log_std.detach().clone()
        for _ in range(6):
            centre = mean(seen)
            ratio = torch.exp(density(actions, centre) - old)
            if fault == "divergence-of-the-same-call":
                centres, deviation = centre.detach(), log_std.detach().clone()
            loss = -torch.min(ratio * gain, torch.clamp(ratio, 1 - CLIP, 1 + CLIP) * gain).mean()
            loss = loss + 0.1 * divergence(centres, deviation, centre, log_std).mean() - 0.003 * log_std.sum()
            actor_optimizer.zero_grad()
            loss.backward()
            actor_optimizer.step()
        for _ in range(6):
            critic_optimizer.zero_grad()
            (critic(seen).squeeze(-1) - goal).pow(2).mean().backward()
            critic_optimizer.step()
