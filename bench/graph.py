"""How long does it take to draw a graph? Prints a table; exits 1 where a bar is missed.

    python bench/graph.py                  # three updates, and one very large graph
    python bench/graph.py --images DIR     # leave the pictures there: graph-ppo.svg, graph-vpg.svg, graph-sac.svg

Bars: a PPO update, a 200-step VPG chain and a SAC update are walked, folded, laid out and written in two seconds each;
a graph of two hundred thousand operations in twenty. Each is the fastest of three, in seconds of the processor.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.distributions import Categorical, Normal

import rldebug

SECONDS, HUGE = 2.0, 20.0
Update = tuple[Any, Any, Any]  # losses, modules, optimizers


def mlp(*sizes: int) -> nn.Sequential:
    layers: list[nn.Module] = []
    for before, after in pairwise(sizes):
        layers += [nn.Linear(before, after), nn.Tanh()]
    return nn.Sequential(*layers[:-1])


class Agent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.critic = mlp(4, 64, 64, 1)
        self.actor = mlp(4, 64, 64, 2)


def ppo() -> Update:
    agent = Agent()
    obs, action = torch.randn(64, 4), torch.randint(2, (64,))
    old_logp, old_value, advantage, returns = (torch.randn(64) for _ in range(4))
    policy = Categorical(logits=agent.actor(obs))
    ratio = (policy.log_prob(action) - old_logp).exp()
    policy_loss = torch.max(-advantage * ratio, -advantage * ratio.clamp(0.8, 1.2)).mean()
    value = agent.critic(obs).squeeze(-1)
    clipped = old_value + (value - old_value).clamp(-0.2, 0.2)
    value_loss = 0.5 * torch.max((value - returns) ** 2, (clipped - returns) ** 2).mean()
    losses = {"policy": policy_loss, "value": value_loss, "entropy": policy.entropy().mean()}
    return losses, {"agent": agent}, {"Adam": torch.optim.Adam(agent.parameters())}


def vpg(steps: int = 200) -> Update:
    policy, logps = mlp(4, 64, 2), []
    for _ in range(steps):
        distribution = Categorical(logits=policy(torch.randn(4)))
        logps.append(distribution.log_prob(distribution.sample()))
    loss = -(torch.stack(logps) * torch.randn(steps)).sum()
    return loss, {"policy": policy}, {"Adam": torch.optim.Adam(policy.parameters())}


class Actor(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(3, 256), nn.Linear(256, 256)
        self.mean, self.log_std = nn.Linear(256, 1), nn.Linear(256, 1)

    def forward(self, obs: Tensor) -> tuple[Tensor, Tensor]:
        features = F.relu(self.fc2(F.relu(self.fc1(obs))))
        policy = Normal(self.mean(features), self.log_std(features).clamp(-5, 2).exp())
        raw = policy.rsample()
        action = raw.tanh()
        logp = policy.log_prob(raw) - torch.log(1 - action.pow(2) + 1e-6)
        return action, logp.sum(1, keepdim=True)


def sac() -> Update:
    actor, q1, q2 = Actor(), mlp(4, 256, 256, 1), mlp(4, 256, 256, 1)
    log_alpha = torch.zeros(1, requires_grad=True)
    obs, action, target = torch.randn(256, 3), torch.randn(256, 1), torch.randn(256, 1)
    given = torch.cat([obs, action], 1)
    critic_loss = F.mse_loss(q1(given), target) + F.mse_loss(q2(given), target)
    chosen, logp = actor(obs)
    value = torch.min(q1(torch.cat([obs, chosen], 1)), q2(torch.cat([obs, chosen], 1)))
    actor_loss = (log_alpha.exp().detach() * logp - value).mean()
    alpha_loss = -(log_alpha.exp() * (logp.detach() - 1)).mean()
    optimizers = {
        "critic_optimizer": torch.optim.Adam([*q1.parameters(), *q2.parameters()]),
        "actor_optimizer": torch.optim.Adam(actor.parameters()),
        "alpha_optimizer": torch.optim.Adam([log_alpha]),
    }
    losses = {"critic": critic_loss, "actor": actor_loss, "alpha": alpha_loss}
    return losses, {"actor": actor, "q1": q1, "q2": q2, "log_alpha": log_alpha}, optimizers


def huge() -> Update:
    weight, steps = torch.ones(3, requires_grad=True), []
    for _ in range(1000):
        step = weight
        for _ in range(100):
            step = step * weight + 0.1
        steps.append(step)
    return torch.stack(steps).sum(), {"weight": weight}, {}


def timed(update: Callable[[], Update], file: Path) -> tuple[float, int, int]:
    best, nodes, size = float("inf"), 0, 0
    for _ in range(3):
        torch.manual_seed(0)
        losses, modules, optimizers = update()
        began = time.process_time()
        drawing = rldebug.graph(losses, modules, optimizers)
        drawing.save(file)
        best = min(best, time.process_time() - began)
        nodes, size = drawing.nodes, file.stat().st_size
        assert not any(each.severity != "note" for each in drawing.findings), drawing.findings
    return best, nodes, size


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=Path, metavar="DIR", help="leave the pictures there")
    folder = parser.parse_args().images
    rows = [("ppo", ppo, SECONDS), ("vpg", vpg, SECONDS), ("sac", sac, SECONDS), ("huge", huge, HUGE)]
    missed = 0
    print(f"{'graph':8}{'operations':>12}{'seconds':>10}{'bar':>8}{'KiB':>8}")
    with tempfile.TemporaryDirectory() as made:
        for name, update, bar in rows:
            kept = folder is not None and name != "huge"
            file = (folder if kept else Path(made)) / f"graph-{name}.svg"
            seconds, nodes, size = timed(update, file)
            missed += seconds > bar
            verdict = "" if seconds <= bar else "  missed"
            print(f"{name:8}{nodes:12,}{seconds:10.3f}{bar:8.1f}{size / 1024:8.1f}{verdict}", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
