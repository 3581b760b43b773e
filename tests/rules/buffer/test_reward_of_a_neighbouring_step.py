"""The reward of the step before, or after."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rldebug.rules.buffer.reward_of_a_neighbouring_step import RewardOfANeighbouringStep
from tests.forensics.simulated import Array, Rollout, gae
from tests.programs.formula_learners import rollouts
from tests.programs.formulas import found, on_policy
from tests.watched import findings


def shifted(of: Rollout, by: int) -> Array:
    return gae(replace(of, reward=np.roll(of.reward, by, axis=0)))


def test_fires_the_reward_of_the_step_before_is_found() -> None:
    (finding,) = found(RewardOfANeighbouringStep(), on_policy(lambda of: shifted(of, 1)))
    assert "before" in finding.message


def test_fires_the_reward_of_the_step_after_is_found() -> None:
    (finding,) = found(RewardOfANeighbouringStep(), on_policy(lambda of: shifted(of, -1), sparse=True))
    assert "after" in finding.message


def test_quiet_it_cannot_be_told_where_all_rewards_are_equal() -> None:
    assert found(RewardOfANeighbouringStep(), on_policy(lambda of: shifted(of, 1), constant=True)) == []


def test_quiet_its_own_reward_is_fine() -> None:
    assert found(RewardOfANeighbouringStep(), on_policy(gae)) == []
    assert found(RewardOfANeighbouringStep(), on_policy(gae, sparse=True)) == []


def test_fires_in_a_program_that_was_watched() -> None:
    assert findings(lambda: rollouts(lambda of: shifted(of, 1)), "BUF340")


def test_quiet_in_a_program_without_the_fault() -> None:
    assert findings(rollouts, "BUF340") == []
