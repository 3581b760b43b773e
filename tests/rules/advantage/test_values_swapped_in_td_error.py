"""Which value is taken off, and which one is added."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rldebug.rules.advantage.values_swapped_in_td_error import ValuesSwappedInTdError
from tests.forensics.simulated import Rollout, gae, returns
from tests.programs.formulas import found, on_policy


def swapped(of: Rollout, gamma: float = 0.97, lam: float = 0.9) -> NDArray[np.float64]:
    advantage, carried = np.zeros_like(of.reward), np.zeros(of.reward.shape[1])
    for t in reversed(range(len(of.reward))):
        going = 1.0 - of.done[t]
        error = of.reward[t] + gamma * of.value[t] - of.value[t + 1] * going
        carried = error + gamma * lam * going * carried
        advantage[t] = carried
    return np.asarray((advantage - advantage.mean()) / advantage.std())


def test_fires_swapped_values_are_found() -> None:
    assert len(found(ValuesSwappedInTdError(), on_policy(returns, swapped))) == 1


def test_quiet_an_advantage_is_fine() -> None:
    assert found(ValuesSwappedInTdError(), on_policy(returns, lambda of: gae(of) - of.value[:-1])) == []
