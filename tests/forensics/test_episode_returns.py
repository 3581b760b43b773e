"""Sums over whole episodes, up to a scale and a constant for each batch."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.forensics.simulated import Rollout, returns, steps

from rldebug.forensics.episode_returns import episodic
from rldebug.forensics.target_rows import Steps, joined

Array = NDArray[np.float64]


def episode(seed: int, *, constant: bool = True, episodes: int = 1) -> Rollout:
    draw = np.random.default_rng(seed)
    lengths = draw.integers(8, 30, episodes)
    count = int(lengths.sum())
    done = np.zeros((count, 1), dtype=bool)
    done[np.cumsum(lengths) - 1] = True
    reward = np.ones((count, 1)) if constant else draw.normal(size=(count, 1))
    none = np.zeros((count, 1))
    return Rollout(reward, np.zeros((count + 1, 1)), none, done, done & False)


def forwards(of: Rollout, gamma: float = 0.95) -> Array:
    turned = Rollout(of.reward[::-1], of.value, of.final, np.roll(of.terminated[::-1], -1, axis=0), of.truncated)
    return np.asarray(returns(turned, gamma)[::-1])


def several(make: object, **options: object) -> Steps:
    parts = []
    for seed in range(6):
        of = episode(seed, **options)  # type: ignore[arg-type]
        target = make(of)  # type: ignore[operator]
        table = steps(of, (target - target.mean()) / target.std(), seed, values=False)
        table.first[0] = True
        parts.append(table)
    return joined(parts)


@pytest.mark.parametrize("constant", [True, False])
def test_normalised_returns_tell_their_discount(constant: bool) -> None:
    found = episodic(several(returns, constant=constant))
    assert found is not None
    assert found.name == "monte-carlo"
    assert abs(found.gamma - 0.95) < 1e-3


@pytest.mark.parametrize("constant", [True, False])
def test_sums_of_the_past_are_told_apart(constant: bool) -> None:
    found = episodic(several(forwards, constant=constant))
    assert found is not None
    assert found.name == "forwards"
    assert abs(found.gamma - 0.95) < 1e-3


def test_sums_that_run_over_ends_are_told_apart() -> None:
    found = episodic(several(lambda of: returns(of, reset=False), episodes=3))
    assert found is not None
    assert found.name == "leak"
    assert found.ends == 12


def test_numbers_that_are_no_sums_are_left_alone() -> None:
    draw = np.random.default_rng(1)
    assert episodic(several(lambda of: draw.normal(size=of.reward.shape))) is None
    assert episodic(several(lambda of: -returns(of))) is None
