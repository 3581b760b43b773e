"""The discount as it is really applied."""

from __future__ import annotations

from typing import Any

import numpy as np

from rldebug.rules.discounting.discount_out_of_range import DiscountOutOfRange
from tests.forensics.simulated import Array, Rollout, gae
from tests.programs.formula_learners import rollouts
from tests.programs.formulas import found, on_policy, q_target, replay
from tests.watched import findings


def test_fires_a_discount_above_one_is_found() -> None:
    (finding,) = found(DiscountOutOfRange(), on_policy(lambda of: gae(of, 1.1, 0.5)))
    assert finding.severity == "error"


def test_fires_a_very_small_discount_is_found() -> None:
    (finding,) = found(DiscountOutOfRange(), on_policy(lambda of: gae(of, 0.4)))
    assert finding.severity == "warning"


def test_fires_a_value_that_is_subtracted_is_found() -> None:
    def subtracted(of: Rollout, picked: Any, said: dict[str, Array]) -> Array:
        following = said["q0"].max(axis=1) * (1.0 - of.terminated[picked, 0])
        return np.asarray(0.97 * of.reward[picked, 0] - following)

    (finding,) = found(DiscountOutOfRange(), replay(subtracted))
    assert "subtracted" in finding.message


def test_quiet_usual_discounts_are_fine() -> None:
    for gamma in (0.8, 0.99, 1.0):
        assert found(DiscountOutOfRange(), on_policy(lambda of, gamma=gamma: gae(of, gamma))) == []  # type: ignore[misc]
    assert found(DiscountOutOfRange(), replay(q_target)) == []


def test_fires_in_a_program_that_was_watched() -> None:
    assert findings(lambda: rollouts(lambda of: gae(of, 0.4)), "DIS307")


def test_quiet_in_a_program_without_the_fault() -> None:
    assert findings(rollouts, "DIS307") == []
