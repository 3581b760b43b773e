"""The carried sum at the end of an episode."""

from __future__ import annotations

import numpy as np

from rldebug.rules.advantage.advantage_carried_over_ends import AdvantageCarriedOverEnds
from tests.forensics.simulated import Array, Rollout, gae
from tests.programs.formula_learners import rollouts
from tests.programs.formulas import found, on_policy
from tests.watched import findings


def test_fires_a_sum_that_is_not_reset_is_found() -> None:
    assert len(found(AdvantageCarriedOverEnds(), on_policy(lambda of: gae(of, mask="carry")))) == 1


def test_quiet_a_sum_that_is_reset_is_fine() -> None:
    assert found(AdvantageCarriedOverEnds(), on_policy(gae)) == []
    assert found(AdvantageCarriedOverEnds(), on_policy(lambda of: gae(of, mask="none"))) == []


def test_fires_in_a_program_that_was_watched() -> None:
    assert findings(lambda: rollouts(lambda of: gae(of, mask="carry")), "ADV322")


def test_quiet_in_a_program_without_the_fault() -> None:
    assert findings(rollouts, "ADV322") == []


def over_limits(of: Rollout) -> Array:
    """Right at true ends; at a time limit the last value counts, as it should, and so does the next episode's sum."""
    target, carry = np.zeros_like(of.reward), np.zeros(of.reward.shape[1])
    for t in reversed(range(len(target))):
        led = np.where(of.truncated[t], of.final[t], of.value[t + 1])
        delta = of.reward[t] + 0.97 * np.where(of.terminated[t], 0.0, led) - of.value[t]
        carry = delta + 0.97 * 0.9 * np.where(of.terminated[t], 0.0, carry)
        target[t] = carry + of.value[t]
    return target


def test_fires_a_sum_that_runs_on_at_time_limits_only_is_found() -> None:
    (finding,) = found(AdvantageCarriedOverEnds(), on_policy(over_limits))
    assert "truncated" in finding.seen


def test_fires_in_a_program_whose_sum_runs_on_at_time_limits() -> None:
    assert findings(lambda: rollouts(over_limits), "ADV322")
