"""A learner from a replay whose loop throws away what reset returns; and one that keeps it."""

from __future__ import annotations

import dataclasses
import random
from collections import deque

import gymnasium as gym
import numpy as np
import torch
from torch import nn

from rldebug.evidence.script import Audit, Event, Nodes, Script
from rldebug.rules.buffer.reset_observation_dropped import ResetObservationDropped
from tests.judge import not_enough
from tests.watched import findings

CODE = "BUF501"


def program(keep: bool) -> None:
    random.seed(0)
    torch.manual_seed(0)
    env = gym.make("CartPole-v1")
    net = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 2))
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-3)
    memory: deque[tuple[np.ndarray, int, float, np.ndarray, bool]] = deque(maxlen=400)
    state, _ = env.reset(seed=0)
    for t in range(400):
        with torch.no_grad():
            best = int(net(torch.as_tensor(state)).argmax())
        action = random.randrange(2) if random.random() < 0.3 else best
        following, reward, terminated, truncated, _ = env.step(action)
        memory.append((state, action, float(reward), following, terminated))
        state = following
        if terminated or truncated:
            first, _ = env.reset()
            state = first if keep else state
        if t < 60:
            continue
        rows = random.sample(memory, 32)
        before, after = (torch.as_tensor(np.stack([each[n] for each in rows])) for n in (0, 3))
        taken = torch.tensor([each[1] for each in rows])
        with torch.no_grad():
            goes_on = 1.0 - torch.tensor([float(each[4]) for each in rows])
            target = torch.tensor([each[2] for each in rows]) + 0.9 * goes_on * net(after).max(1).values
        loss = (net(before).gather(1, taken[:, None]).squeeze(1) - target).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def test_fires_where_the_last_observation_is_gone_on_with() -> None:
    (found,) = findings(lambda: program(keep=False), CODE)
    assert found.severity == "error"
    assert "final observations" in found.seen


def test_quiet_where_what_reset_returns_is_kept() -> None:
    assert not findings(lambda: program(keep=True), CODE)


def test_declines_where_no_observation_is_known() -> None:
    columns = {each.name: np.empty(0, dtype=np.int64) for each in dataclasses.fields(Nodes)}
    rows = {"rows": np.array([-1, -1]), "action": np.array([0, 1])}
    term = Event(0, "term", 1, 1, {"kind": "policy"}, rows)
    not_enough(ResetObservationDropped(), Script(audits=[Audit(0, 0, 0, 0, Nodes(**columns), (term,))]))
