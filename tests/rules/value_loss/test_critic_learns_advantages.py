"""Targets that hold the value of the state itself."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from rldebug.rules.value_loss.critic_learns_advantages import CriticLearnsAdvantages
from tests.forensics.simulated import Rollout, gae, returns
from tests.programs.formulas import found, on_policy


def advantage(of: Rollout, lam: float = 0.9) -> NDArray[np.float64]:
    return np.asarray(gae(of, lam=lam) - of.value[:-1])


@pytest.mark.parametrize("lam", [0.0, 0.9, 1.0])
def test_fires_advantages_as_targets_are_found(lam: float) -> None:
    assert len(found(CriticLearnsAdvantages(), on_policy(lambda of: advantage(of, lam)))) == 1


def test_fires_normalised_advantages_are_found() -> None:
    seen = on_policy(lambda of: (advantage(of) - advantage(of).mean()) / advantage(of).std(), times=128)
    assert len(found(CriticLearnsAdvantages(), seen)) == 1


def test_quiet_returns_are_fine() -> None:
    for target in (gae, returns, lambda of: gae(of, lam=0.0), lambda of: (returns(of) - 3) / 7):
        assert found(CriticLearnsAdvantages(), on_policy(target)) == []
