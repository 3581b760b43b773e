"""Rewards by the variance of the returns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from rldebug.rules.normalisation.reward_divided_by_variance import RewardDividedByVariance
from tests.forensics.simulated import Array, Rollout, gae
from tests.judge import fires, not_enough, quiet
from tests.programs.formula_learners import rollouts
from tests.watched import watched

rule = RewardDividedByVariance()
GAMMA = 0.97


def scaled(power: float) -> Callable[[Rollout], Array]:
    """Targets of rewards that are divided by a power of the deviation of the returns so far."""
    seen: list[float] = []
    total = np.zeros(4)

    def target(of: Rollout) -> Array:
        nonlocal total
        reward = np.zeros_like(of.reward)
        for t, now in enumerate(of.reward):
            total = GAMMA * total + now
            seen.extend(total.tolist())
            reward[t] = now / float(np.std(seen)) ** power
            total = np.where(of.done[t], 0.0, total)
        return gae(replace(of, reward=reward), GAMMA, 0.9)

    return target


def test_fires_on_the_variance() -> None:
    assert "variance" in fires(rule, watched(lambda: rollouts(scaled(2.0), length=64))[1]).message


def test_quiet_on_the_deviation() -> None:
    quiet(rule, watched(lambda: rollouts(scaled(1.0), length=64))[1])


@pytest.mark.parametrize("power", [0.0, 3.0])
def test_declines_on_anything_else(power: float) -> None:
    not_enough(rule, watched(lambda: rollouts(scaled(power), length=64))[1])
