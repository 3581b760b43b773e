"""Returns that sum up the past."""

from __future__ import annotations

import numpy as np

from rldebug.rules.discounting.returns_summed_forwards import ReturnsSummedForwards
from tests.forensics.simulated import Array, Rollout, returns
from tests.programs.formula_learners import rollouts
from tests.programs.formulas import found, on_policy
from tests.watched import findings


def forwards(of: Rollout) -> Array:
    made, running = np.zeros_like(of.reward), np.zeros(of.reward.shape[1])
    for t in range(len(made)):
        running = of.reward[t] + 0.95 * running
        made[t] = running
    return made


def test_fires_returns_of_the_past_are_found() -> None:
    assert len(found(ReturnsSummedForwards(), on_policy(forwards))) == 1
    assert len(found(ReturnsSummedForwards(), on_policy(None, forwards))) == 1


def test_quiet_returns_are_fine() -> None:
    assert found(ReturnsSummedForwards(), on_policy(returns)) == []


def test_fires_in_a_program_that_was_watched() -> None:
    assert findings(lambda: rollouts(None, forwards), "DIS309")


def test_quiet_in_a_program_without_the_fault() -> None:
    assert findings(rollouts, "DIS309") == []
