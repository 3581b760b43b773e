"""A recursion that runs the wrong way."""

from __future__ import annotations

import numpy as np

from rldebug.rules.advantage.advantage_summed_forwards import AdvantageSummedForwards
from tests.forensics.simulated import Array, Rollout, gae
from tests.programs.formula_learners import rollouts
from tests.programs.formulas import found, on_policy
from tests.watched import findings


def forwards(of: Rollout) -> Array:
    made, carry = np.zeros_like(of.reward), np.zeros(of.reward.shape[1])
    for t in range(len(made)):
        carry = of.reward[t] + 0.97 * of.value[t + 1] - of.value[t] + 0.97 * 0.9 * carry
        made[t] = carry + of.value[t]
    return made


def test_fires_a_recursion_from_the_first_step_is_found() -> None:
    assert len(found(AdvantageSummedForwards(), on_policy(forwards))) == 1


def test_quiet_the_right_direction_is_fine() -> None:
    assert found(AdvantageSummedForwards(), on_policy(gae)) == []


def test_fires_in_a_program_that_was_watched() -> None:
    assert findings(lambda: rollouts(forwards), "ADV325")


def test_quiet_in_a_program_without_the_fault() -> None:
    assert findings(rollouts, "ADV325") == []
