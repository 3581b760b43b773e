"""Returns that are standardised for the critic, whose values are used as they are, or brought back first."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rldebug.rules.value_loss.returns_standardised_for_the_critic import ReturnsStandardisedForTheCritic
from tests.forensics.simulated import Array, Rollout, gae
from tests.programs.formula_learners import rollouts
from tests.programs.formulas import found, on_policy
from tests.watched import findings


def standardised(of: Rollout) -> Array:
    returns = gae(of)
    return np.asarray((returns - returns.mean()) / returns.std())


def brought_back(of: Rollout) -> Array:
    """Values in units of what returns were, and targets in units of what they are."""
    scale = 2.0 + float(np.abs(of.reward[0]).mean())
    raw = gae(replace(of, value=scale * of.value + 1.0, final=scale * of.final + 1.0))
    return np.asarray((raw - 1.0) / scale)


def test_fires_where_each_rollout_is_standardised_by_itself() -> None:
    (finding,) = found(ReturnsStandardisedForTheCritic(), on_policy(standardised))
    assert "rollout by rollout" in finding.seen


def test_fires_where_all_rewards_are_alike() -> None:
    (finding,) = found(ReturnsStandardisedForTheCritic(), on_policy(standardised, audits=5, constant=True))
    assert "mean 0" in finding.seen


def test_quiet_where_values_are_brought_back_first() -> None:
    assert found(ReturnsStandardisedForTheCritic(), on_policy(brought_back)) == []
    assert found(ReturnsStandardisedForTheCritic(), on_policy(brought_back, audits=5, constant=True)) == []


def test_quiet_where_returns_are_left_alone() -> None:
    assert found(ReturnsStandardisedForTheCritic(), on_policy(gae)) == []


def test_fires_in_a_program_that_was_watched() -> None:
    assert findings(lambda: rollouts(standardised, length=60), "VAL461")


def test_quiet_in_a_program_without_the_fault() -> None:
    assert findings(lambda: rollouts(length=60), "VAL461") == []
