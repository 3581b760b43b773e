"""Truncated steps whose value was added to the reward, and that did not end."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rldebug.rules.discounting.limit_bootstrapped_twice import LimitBootstrappedTwice
from tests.forensics.simulated import Array, Rollout, gae
from tests.programs.formula_learners import rollouts
from tests.programs.formulas import found, on_policy
from tests.watched import findings


def twice(of: Rollout, lam: float = 0.9) -> Array:
    paid = of.reward + 0.97 * of.final * of.truncated
    return gae(replace(of, reward=paid, truncated=of.truncated & False), 0.97, lam)


@pytest.mark.parametrize("lam", [0.0, 0.9])
def test_fires_where_the_value_was_added_and_the_sum_goes_on(lam: float) -> None:
    (finding,) = found(LimitBootstrappedTwice(), on_policy(lambda of: twice(of, lam)))
    assert finding.code == "DIS250"


def test_quiet_where_the_sum_ends_or_no_value_was_added() -> None:
    assert found(LimitBootstrappedTwice(), on_policy(gae)) == []
    assert found(LimitBootstrappedTwice(), on_policy(lambda of: gae(of, truncation="zero"))) == []
    assert found(LimitBootstrappedTwice(), on_policy(lambda of: gae(replace(of, truncated=of.truncated & False)))) == []


def test_fires_in_a_program_that_was_watched() -> None:
    assert findings(lambda: rollouts(twice), "DIS250")


def test_quiet_in_a_program_without_the_fault() -> None:
    assert findings(rollouts, "DIS250") == []
