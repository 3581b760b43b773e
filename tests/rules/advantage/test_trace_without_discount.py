"""What stands before the next advantage."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from rldebug.rule import NotEnough
from rldebug.rules.advantage.trace_without_discount import TraceWithoutDiscount
from tests.forensics.simulated import Rollout, gae, returns
from tests.programs.formulas import found, on_policy

Array = NDArray[np.float64]


def normalised(of: Rollout, gamma: float, carried: float) -> Array:
    advantage = gae(of, gamma, carried / gamma) - of.value[:-1]
    return np.asarray((advantage - advantage.mean()) / advantage.std())


def test_fires_lambda_alone_is_found_beside_other_returns() -> None:
    seen = on_policy(returns, lambda of: normalised(of, 0.97, 0.95))
    assert "without γ" in found(TraceWithoutDiscount(), seen)[0].message


def test_fires_more_than_gamma_is_found() -> None:
    seen = on_policy(returns, lambda of: normalised(of, 0.9, 0.95))
    assert "above 1" in found(TraceWithoutDiscount(), seen)[0].message


def test_fires_in_the_targets_of_the_critic() -> None:
    assert len(found(TraceWithoutDiscount(), on_policy(lambda of: gae(of, 0.97, 0.95 / 0.97)))) == 1


@pytest.mark.parametrize(("gamma", "lam"), [(0.97, 0.95), (0.99, 0.95), (0.995, 0.9), (0.98, 1.0), (0.9, 0.5)])
def test_quiet_gamma_times_lambda_is_right(gamma: float, lam: float) -> None:
    seen = on_policy(lambda of: gae(of, gamma, lam), lambda of: normalised(of, gamma, gamma * lam))
    assert found(TraceWithoutDiscount(), seen) == []


def test_quiet_without_a_recursion_nothing_is_said() -> None:
    with pytest.raises(NotEnough):
        found(TraceWithoutDiscount(), on_policy(lambda of: of.value[:-1] * 3))
