from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from rldebug.rules.buffer.empty_rows_learned import EmptyRowsLearned
from tests.programs.data import WIDTH, Drift, found, net, seen, tensor
from tests.watched import findings, watched


def test_fires_on_rows_that_were_never_written() -> None:
    (finding,) = found(EmptyRowsLearned(), seen(watched, "dqn", "empty rows"))
    assert finding.seen.startswith("16 of 32 rows")


@pytest.mark.parametrize("program", ["dqn", "ddpg"])
def test_quiet_where_all_rows_were_stored(program: str) -> None:
    assert not found(EmptyRowsLearned(), seen(watched, program))


class FromZero(Drift):
    """Every episode begins at the origin."""

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.x = np.zeros_like(self.x)
        return self._obs(), {}


def test_quiet_where_episodes_begin_with_zeros_and_random_actions() -> None:
    """No network is asked about the start, which looks the same each time: its rows are not known."""

    def program() -> None:
        torch.manual_seed(0)
        rng = np.random.default_rng(0)
        env, actor, critic = FromZero(limit=6, box=True), net(1), net(1, WIDTH + 1)
        optimizer = torch.optim.Adam(critic.parameters(), 1e-3)
        memory: list[Any] = []
        obs, _ = env.reset()
        at_start = True
        for step in range(200):
            with torch.no_grad():
                action = rng.uniform(-1, 1, 1) if at_start else np.tanh(actor(tensor(obs)[None])[0].numpy())
            after, reward, terminated, truncated, _ = env.step(np.asarray(action, np.float32))
            memory.append((obs, np.asarray(action, np.float32), reward, after, terminated))
            at_start = terminated or truncated
            obs = env.reset()[0] if at_start else after
            if step < 40:
                continue
            rows = [memory[each] for each in rng.integers(0, len(memory), 32)]
            s, a, r, s2, end = (tensor(np.array(each)) for each in zip(*rows, strict=True))
            with torch.no_grad():
                following = critic(torch.cat([s2, actor(s2).tanh()], 1)).squeeze(1)
            loss = nn.functional.mse_loss(critic(torch.cat([s, a], 1)).squeeze(1), r + 0.9 * (1 - end) * following)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

    assert not [each for each in findings(program, "BUF307") if each.severity != "note"]
