from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
import torch

from rldebug.evidence.script import Script
from rldebug.rule import NotEnough
from rldebug.rules.value_loss.value_error_capped import ValueErrorCapped
from tests.programs.data import Drift, found, net, tensor
from tests.watched import watched


def program(loss_of: Any) -> None:
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    env, critic = Drift(), net(1)
    optimizer = torch.optim.Adam(critic.parameters(), 1e-3)
    obs, _ = env.reset()
    for _ in range(4):
        rows = []
        for _ in range(32):
            after, _, terminated, truncated, _ = env.step(0)
            rows.append(obs.copy())
            obs = env.reset()[0] if terminated or truncated else after
        s, target = tensor(np.array(rows)), tensor(rng.normal(20.0, 9.0, len(rows)))
        for _ in range(3):
            error = (critic(s)[:, 0] - target) ** 2
            optimizer.zero_grad()
            loss_of(error).backward()
            optimizer.step()


def capped(error: torch.Tensor, *, at: float) -> torch.Tensor:
    return error.clamp(0, at).mean()


def padded(error: torch.Tensor) -> torch.Tensor:
    mask = (torch.arange(len(error)) % 3 == 0).float()
    return (error * mask).sum() / mask.sum()


@functools.cache
def seen(loss_of: Any) -> Script:
    return watched(lambda: program(loss_of))[1]


def test_fires_where_most_errors_are_beyond_the_cap() -> None:
    (finding,) = found(ValueErrorCapped(), seen(functools.partial(capped, at=100.0)))
    assert finding.severity == "note"
    assert "squared error above about" in finding.seen


def test_quiet_where_few_errors_are() -> None:
    assert not found(ValueErrorCapped(), seen(functools.partial(capped, at=900.0)))


def test_quiet_where_no_error_is() -> None:
    with pytest.raises(NotEnough):
        found(ValueErrorCapped(), seen(functools.partial(capped, at=1e9)))


def test_quiet_where_rows_are_left_out_for_another_reason() -> None:
    with pytest.raises(NotEnough):
        found(ValueErrorCapped(), seen(padded))
