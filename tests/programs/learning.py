"""Small programs that learn, each with one fault in how gradients and steps are handled; or none."""

from __future__ import annotations

import dataclasses
from functools import cache
from typing import Any

import numpy as np
import torch
from torch import nn, optim

from rldebug.evidence.run import Run
from rldebug.evidence.script import Audit, Event, Nodes, Script
from tests.watched import watched

Made = tuple[str, dict[str, Any], dict[str, Any]]  # an event: kind, detail, arrays


@cache
def seen(program: str, fault: str = "", **options: Any) -> tuple[Run, Script]:
    """What was seen of one of the programs below; each is run once for all tests."""
    return watched(lambda: globals()[program](fault, **options))


def regression(fault: str = "", steps: int = 60) -> None:
    """A critic and its optimizer, on made-up batches: no environment is needed for what goes wrong in a step."""
    draw = torch.Generator().manual_seed(0)
    torch.manual_seed(0)
    critic = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 1))
    head = nn.Sequential(nn.Linear(4, 24), nn.Tanh(), nn.Linear(24, 1))
    held = [*critic.parameters(), *head.parameters()]
    optimizer: optim.Optimizer = optim.Adam(held, lr=1e-2)
    if fault == "in no optimizer":
        optimizer = optim.Adam(critic.parameters(), lr=1e-2)
    elif fault == "made anew later":
        optimizer = optim.Adam(critic.parameters(), lr=1e-2)
        critic = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
    elif fault == "decay":
        optimizer = optim.Adam(held, lr=1e-2, weight_decay=0.9)
    elif fault == "betas":
        optimizer = optim.Adam(held, lr=1e-2, betas=(0.999, 0.9))
    elif fault == "maximise":
        optimizer = optim.Adam(held, lr=1e-4, maximize=True)
    elif fault == "slow":
        optimizer = optim.SGD(held, lr=1e-6)
    slope = {"negative": 0.1, "runs out": 1 / (0.3 * steps)}.get(fault)
    schedule = None
    if slope is not None:
        lowest = -1.0 if fault == "negative" else 0.0
        schedule = optim.lr_scheduler.LambdaLR(optimizer, lambda step: max(1 - slope * step, lowest))
    if fault in ("grows", "warms up"):
        length = steps if fault == "grows" else steps // 5
        schedule = optim.lr_scheduler.LambdaLR(optimizer, lambda step: min((step + 1) / length, 1.0))
    for _ in range(steps):
        if fault == "optimizer in loop":
            optimizer = optim.Adam(held, lr=1e-2)
        parts = 4 if fault in ("parts", "cleared in parts") else 1
        optimizer.zero_grad()
        for _ in range(parts):
            if fault == "cleared in parts":
                optimizer.zero_grad()
            if fault == "clip before":
                nn.utils.clip_grad_norm_(held, 0.05)
            loss: Any = _loss(critic, head, draw, fault)
            loss.backward()
        if fault == "cleared before step":
            optimizer.zero_grad()
        if fault in ("clip", "clip to nothing", "clip critic"):
            limit = {"clip": 0.5, "clip to nothing": 1e-7, "clip critic": 0.01}[fault]
            nn.utils.clip_grad_norm_(critic.parameters() if fault == "clip critic" else held, limit)
        optimizer.step()
        if fault == "steps twice":
            optimizer.step()
        if fault == "clip after":
            nn.utils.clip_grad_norm_(held, 0.5)
        if schedule is not None:
            schedule.step()


def _loss(critic: nn.Module, head: nn.Module, draw: torch.Generator, fault: str) -> Any:
    rows = torch.randn(16, 4, generator=draw)
    error = (critic(rows) - 3 * rows[:, :1]).pow(2).mean()
    if fault == "made anew later":
        return error
    return error + (10 if fault == "clip critic" else 1) * (head(rows) + 10 * rows[:, 1:2]).pow(2).mean()


def actor_critic(fault: str = "", steps: int = 24) -> None:
    """An actor that climbs its critic, as DDPG does, with a temperature as in SAC."""
    draw = torch.Generator().manual_seed(0)
    torch.manual_seed(0)
    actor, critic = nn.Linear(4, 2), nn.Linear(5, 1)
    log_alpha = torch.zeros((), requires_grad=True)
    both = [*actor.parameters(), *critic.parameters()]
    actor_step = optim.Adam(both if fault == "holds critic" else actor.parameters(), lr=1e-3)
    critic_step = optim.Adam(critic.parameters(), lr=1e-3)
    alpha_step = optim.Adam([log_alpha], lr=1e-3)
    for _ in range(steps):
        rows = torch.randn(16, 4, generator=draw)
        critic_loss: Any = (critic(torch.cat([rows, rows[:, :1]], 1)) - rows[:, 1:2]).pow(2).mean()
        critic_step.zero_grad()
        critic_loss.backward()
        critic_step.step()
        mean, log_std = actor(rows).chunk(2, dim=1)
        dist: Any = torch.distributions.Normal(mean, log_std.exp())
        action = dist.rsample()
        logp = dist.log_prob(action)
        actor_loss = (log_alpha.exp().detach() * logp - critic(torch.cat([rows, action], 1))).mean()
        alpha_loss = -(log_alpha.exp() * ((logp if fault == "attached" else logp.detach()) - 1)).mean()
        actor_step.zero_grad()
        alpha_step.zero_grad()
        (actor_loss + alpha_loss).backward()
        actor_step.step()
        alpha_step.step()


class Layers(nn.Module):
    def __init__(self, listed: bool) -> None:
        super().__init__()
        hidden = [nn.Linear(4, 8), nn.Linear(8, 8)]
        self.hidden: Any = hidden if listed else nn.ModuleList(hidden)
        self.last = nn.Linear(8, 1)

    def forward(self, rows: Any) -> Any:
        for layer in self.hidden:
            rows = torch.tanh(layer(rows))
        return self.last(rows)


def pair(fault: str = "", steps: int = 40) -> None:
    """Two networks with an optimizer and a loss each."""
    draw = torch.Generator().manual_seed(0)
    torch.manual_seed(0)
    critic, model = nn.Linear(4, 1), Layers(fault == "listed")
    if fault == "frozen":
        model.requires_grad_(False)
    critic_step, model_step = optim.Adam(critic.parameters(), lr=1e-3), optim.Adam(model.parameters(), lr=1e-3)
    for _ in range(steps):
        rows = torch.randn(16, 4, generator=draw)
        critic_loss: Any = (critic(rows) - rows[:, :1]).pow(2).mean()
        critic_step.zero_grad()
        critic_loss.backward()
        critic_step.step()
        model_loss: Any = (model(rows) - rows[:, 1:2]).pow(2).mean()
        model_step.zero_grad()
        if fault != "frozen":
            model_loss.backward()
        (critic_step if fault == "other step" else model_step).step()


class TwoHeads(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.trunk, self.logits, self.value = nn.Linear(4, 8), nn.Linear(8, 3), nn.Linear(8, 1)

    def forward(self, rows: Any) -> Any:
        hidden = torch.tanh(self.trunk(rows))
        return self.logits(hidden), self.value(hidden).squeeze(-1)


def policy_gradient(fault: str = "", steps: int = 60) -> None:
    """Both heads of one network, trained by one loss."""
    draw = torch.Generator().manual_seed(0)
    torch.manual_seed(0)
    net = TwoHeads()
    optimizer = optim.Adam(net.parameters(), lr=1e-3)
    for _ in range(steps):
        rows = torch.randn(16, 4, generator=draw)
        logits, value = net(rows)
        dist: Any = torch.distributions.Categorical(logits=logits)
        action = dist.sample()
        logp = dist.log_prob(action)
        reward = (action == 0).float()
        weight = reward - value.detach()
        policy_loss = -((logp.detach() if fault == "detached" else logp) * weight).mean()
        loss: Any = policy_loss + 0.5 * (value - reward).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def script(*audits: list[Made], every: int = 100, **things: Any) -> Script:
    """Evidence made by hand: for each audit its events (kind, detail, arrays); an audit for every so many updates."""
    made = []
    for number, events in enumerate(audits):
        update = every * number
        listed = [
            Event(order, kind, update, 0, detail, {key: np.asarray(each) for key, each in arrays.items()})
            for order, (kind, detail, arrays) in enumerate(events)
        ]
        made.append(Audit(number, number, update, update, nodes(), tuple(listed)))
    meta = things.pop("meta", {"state": "finished"})
    return Script(made, things, things.pop("notes", ()), meta)


def nodes() -> Nodes:
    """No observation at all."""
    columns: Any = {each.name: np.zeros(0, np.int64) for each in dataclasses.fields(Nodes)}
    flags = dict.fromkeys(("terminated", "truncated", "phantom", "first", "acted"), np.zeros(0, bool))
    wide = {"action": np.zeros((0, 1)), "obs": np.zeros((0, 0), np.float32), "obs_stats": np.zeros((0, 4))}
    return Nodes(**{**columns, **flags, **wide, "reward": np.zeros(0)})


def loss(reached: list[str], line: int = 1, **more: Any) -> Made:
    detail = {"reached": reached, "how": "backward", "frozen": [], "missed": 0, "asked": 0, "line": ["train.py", line]}
    return "loss", {**detail, **more}, {}


def term(
    kind: str, reached: list[str], coefficient: float = 1.0, **more: Any
) -> tuple[str, dict[str, Any], dict[str, Any]]:
    arrays: dict[str, Any] = {key: more.pop(key) for key in ("prediction", "target", "weight") if key in more}
    return "term", {"kind": kind, "reached": reached, "coefficient": coefficient, "sides": {}, **more}, arrays


def step(optimizer: str, norms: dict[str, float], **more: Any) -> Made:
    whole = sum(each**2 for each in norms.values()) ** 0.5
    detail = {"optimizer": optimizer, "grad_norm": whole, "grad_norms": norms, "of": 4, "without": 0, "lr": 1e-3}
    return "step", {**detail, "line": ["train.py", 9], **more}, {}


def zero(optimizer: str) -> Made:
    return "zero", {"optimizer": optimizer, "line": ["train.py", 3]}, {}


def clip(modules: list[str], limit: float, norm: float, **more: Any) -> Made:
    detail = {"how": "norm", "limit": limit, "norm": norm, "tensors": 4, "without": 0, "after_step": False}
    return "clip", {**detail, "modules": modules, "line": ["train.py", 5], **more}, {}


def optimizer(modules: dict[str, int], **more: Any) -> dict[str, Any]:
    made = {"class": "Adam", "settings": {"eps": 1e-8}, "modules": modules, "tensors": 4, "numel": 1000, "steps": 500}
    return {**made, "created": ["train.py", 2], "lr_highest": 1e-3, **more}


def module(owners: dict[str, int], **more: Any) -> dict[str, Any]:
    return {
        "owners": owners,
        "trainable": 4,
        "tensors": 4,
        "parameters": 1000,
        "acting": 0,
        "inside": None,
        "layers": {},
        **more,
    }
