"""A small learner with a target network and a temperature, trained in two legs: the second from a checkpoint."""

from __future__ import annotations

import copy
import io
from collections.abc import Callable
from typing import Any

import torch
from torch import nn


class Learner(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 2))
        self.target = copy.deepcopy(self.net).requires_grad_(False)
        self.temperature = nn.Parameter(torch.zeros(()))
        self.opt = torch.optim.Adam(self.net.parameters(), 0.01)
        self.temperature_opt = torch.optim.Adam([self.temperature], 0.01)

    def train_on(self, steps: int = 4) -> None:
        for _ in range(steps):
            obs, nxt = torch.rand(8, 3), torch.rand(8, 3)
            with torch.no_grad():
                goal = 1.0 + 0.9 * self.target(nxt).max(1).values
            value = self.net(obs).gather(1, torch.randint(2, (8, 1))).squeeze(1)
            for opt in (self.opt, self.temperature_opt):
                opt.zero_grad()
            ((value - goal).square().mean() + self.temperature.exp()).backward()
            for opt in (self.opt, self.temperature_opt):
                opt.step()
            with torch.no_grad():
                for ours, theirs in zip(self.target.parameters(), self.net.parameters(), strict=True):
                    ours.lerp_(theirs, 0.05)

    def contents(self) -> dict[str, Any]:
        opts = {"opt": self.opt.state_dict(), "temperature_opt": self.temperature_opt.state_dict()}
        return {"nets": self.state_dict(), **opts}


def take_all(learner: Learner, saved: dict[str, Any]) -> None:
    learner.load_state_dict(saved["nets"])
    learner.opt.load_state_dict(saved["opt"])
    learner.temperature_opt.load_state_dict(saved["temperature_opt"])


def legs(
    contents: Callable[[Learner], Any] = Learner.contents, take: Callable[[Learner, Any], None] = take_all
) -> Callable[[], None]:
    """The program: train, save, build everything anew, load, train."""

    def program() -> None:
        torch.manual_seed(0)
        learner = Learner()
        learner.train_on()
        file = io.BytesIO()
        torch.save(contents(learner), file)
        file.seek(0)
        learner = Learner()
        take(learner, torch.load(file, weights_only=True))
        learner.train_on()

    return program
