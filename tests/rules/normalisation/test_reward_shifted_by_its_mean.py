from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from rldebug.rules.normalisation import reward_shifted_by_its_mean as module
from rldebug.rules.normalisation.reward_shifted_by_its_mean import RewardShiftedByItsMean
from tests.forensics.simulated import Array, Rollout, gae, replace
from tests.judge import fires, not_enough, quiet
from tests.programs.formulas import on_policy

ENDED = {"terminated": [True] * 20 + [False] * 20, "lengths": [7, 12, 30] * 10}


@pytest.fixture(autouse=True)
def _ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "training_streams", lambda script: [ENDED])


def standardised(shift: float, moving: bool = True, scaled: bool = True) -> Callable[[Rollout], Array]:
    """Rewards by a running deviation, less a share of a running mean."""

    def make(of: Rollout) -> Array:
        drift = np.cumsum(np.abs(np.random.default_rng(1).normal(size=len(of.reward)))) / 2000
        drift = (drift if moving else np.full(len(drift), 0.1))[:, None]
        reward = (of.reward - shift * (1.0 + drift)) * (0.5 + drift if scaled else 1.0)
        return gae(replace(of, reward=reward), 0.97, 0.9)

    return make


@pytest.mark.parametrize("shift", [0.5, -0.2])
def test_fires_where_a_running_mean_is_taken_off(shift: float) -> None:
    assert f"{shift:.0g}"[:-1] in fires(RewardShiftedByItsMean(), on_policy(standardised(shift), lanes=8)).seen


@pytest.mark.parametrize(
    "make", [gae, standardised(0.5, moving=False), standardised(0.0), standardised(0.0, scaled=False)]
)
def test_says_nothing_where_rewards_are_scaled_only_or_by_constants(make: Any) -> None:
    not_enough(RewardShiftedByItsMean(), on_policy(make, lanes=8))


def test_declines_where_episodes_do_not_end_by_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "training_streams", lambda script: [{**ENDED, "terminated": [False] * 40}])
    not_enough(RewardShiftedByItsMean(), on_policy(standardised(0.5), lanes=8))


def test_quiet_on_noise() -> None:
    draw = np.random.default_rng(3)
    quiet(RewardShiftedByItsMean(), on_policy(lambda of: draw.normal(size=of.reward.shape), lanes=8))
