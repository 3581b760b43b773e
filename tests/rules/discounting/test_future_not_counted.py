"""The reward where the return belongs."""

from __future__ import annotations

from typing import Any

import numpy as np

from rldebug.rules.discounting.future_not_counted import FutureNotCounted
from tests.forensics.simulated import Array, Rollout, returns
from tests.programs.formula_learners import rollouts
from tests.programs.formulas import found, on_policy, q_target, replay
from tests.watched import findings


def test_fires_the_reward_alone_is_found() -> None:
    assert len(found(FutureNotCounted(), on_policy(lambda of: of.reward, lambda of: np.sin(of.value[:-1])))) == 1
    assert len(found(FutureNotCounted(), on_policy(None, lambda of: of.reward))) == 1


def test_fires_the_reward_alone_in_q_is_found() -> None:
    def alone(of: Rollout, picked: Any, said: dict[str, Array]) -> Array:
        return np.asarray(of.reward[picked, 0])

    assert len(found(FutureNotCounted(), replay(alone))) == 1


def test_quiet_a_model_of_the_rewards_is_fine() -> None:
    assert found(FutureNotCounted(), on_policy(lambda of: of.reward)) == []


def test_quiet_returns_are_fine_also_where_rewards_are_rare() -> None:
    assert found(FutureNotCounted(), on_policy(returns)) == []
    assert found(FutureNotCounted(), on_policy(returns, sparse=True)) == []
    assert found(FutureNotCounted(), replay(q_target)) == []


def test_fires_in_a_program_that_was_watched() -> None:
    assert findings(lambda: rollouts(lambda of: of.reward), "DIS308")


def test_quiet_in_a_program_without_the_fault() -> None:
    assert findings(rollouts, "DIS308") == []
