from __future__ import annotations

import copy

import numpy as np
import pytest
import torch
from torch import nn

from rldebug.rule import NotEnough
from rldebug.rules.buffer.bootstrap_of_the_same_observation import BootstrapOfTheSameObservation
from tests.programs.data import found, seen
from tests.watched import watched


def test_fires_where_the_next_observation_is_the_observation() -> None:
    (finding,) = found(BootstrapOfTheSameObservation(), seen(watched, "dqn", "next is obs"))
    assert finding.where.line


@pytest.mark.parametrize("program", ["dqn", "ddpg"])
def test_quiet_where_it_is_the_next(program: str) -> None:
    assert not found(BootstrapOfTheSameObservation(), seen(watched, program))


def test_quiet_where_it_is_another() -> None:
    assert not found(BootstrapOfTheSameObservation(), seen(watched, "dqn", "next shuffled"))


class Memory(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.core, self.head = nn.GRU(2, 8, batch_first=True), nn.Linear(8, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.core(x)[0])


def sequences() -> None:
    """Q-learning on whole episodes: the same sequence for both networks, and the answers of the target shifted."""
    torch.manual_seed(0)
    rng, net = np.random.default_rng(0), Memory()
    slow = copy.deepcopy(net)
    optimizer, env, kept = torch.optim.Adam(net.parameters(), lr=1e-3), Walk(), []
    for episode in range(14):
        obs, rows, end = env.reset(), [], False
        while not end:
            action = int(rng.integers(2))
            after, reward, end, _ = env.step(action)
            rows.append((obs, action, reward))
            obs = after
        kept.append(rows)
        for _ in range(2 if episode >= 4 else 0):
            picked = [kept[each] for each in rng.choice(len(kept), 4)]
            seen = torch.tensor(np.array([[row[0] for row in rows] for rows in picked]))
            chosen = torch.tensor([[row[1] for row in rows] for rows in picked])
            paid = torch.tensor([[row[2] for row in rows] for rows in picked], dtype=torch.float32)
            with torch.no_grad():
                later = slow(seen).max(2).values
                target = paid + 0.9 * torch.cat([later[:, 1:], torch.zeros(4, 1)], 1)
            loss = (net(seen).gather(2, chosen[..., None]).squeeze(2) - target).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        slow.load_state_dict(net.state_dict())


class Walk:
    def __init__(self) -> None:
        self.rng = np.random.default_rng(1)

    def reset(self) -> np.ndarray:
        self.t, self.x = 0, self.rng.normal(size=2).astype(np.float32)
        return self.x.copy()

    def step(self, action: int) -> tuple[np.ndarray, float, bool, dict[str, int]]:
        self.t += 1
        self.x = (self.x + 0.1 * (2 * action - 1) + 0.1 * self.rng.normal(size=2)).astype(np.float32)
        return self.x.copy(), float(self.x[0]), self.t == 12, {}


def test_not_judged_where_the_answers_for_a_sequence_are_shifted() -> None:
    _, script = watched(sequences, overhead_budget=1.0)
    with pytest.raises(NotEnough):
        found(BootstrapOfTheSameObservation(), script)
