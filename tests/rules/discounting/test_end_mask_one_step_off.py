"""The mask of the step before, or after."""

from __future__ import annotations

import numpy as np

from rldebug.rules.discounting.end_mask_one_step_off import EndMaskOneStepOff
from rldebug.rules.discounting.target_runs_past_the_end import TargetRunsPastTheEnd
from tests.forensics.simulated import Array, Rollout, gae
from tests.programs.formula_learners import rollouts
from tests.programs.formulas import found, on_policy
from tests.watched import findings


def test_fires_the_flag_of_the_step_before_is_found() -> None:
    (finding,) = found(EndMaskOneStepOff(), on_policy(lambda of: gae(of, late=True)))
    assert "late" in finding.message
    assert found(TargetRunsPastTheEnd(), on_policy(lambda of: gae(of, late=True))) == []


def test_fires_the_flag_of_the_step_after_cuts_the_sum_too_early() -> None:
    (finding,) = found(EndMaskOneStepOff(), on_policy(lambda of: gae(of, mask="early")))
    assert "early" in finding.message


def test_quiet_where_a_step_that_was_cut_off_is_left_out_and_the_one_before_it_is_the_last() -> None:
    def shortened(of: Rollout) -> Array:
        return np.where(
            np.concatenate([of.truncated[1:], of.truncated[:1] & False]), of.reward + 0.97 * of.value[1:], gae(of)
        )

    assert found(EndMaskOneStepOff(), on_policy(shortened)) == []


def test_quiet_the_right_flag_is_fine() -> None:
    assert found(EndMaskOneStepOff(), on_policy(gae)) == []


def test_quiet_no_mask_at_all_is_another_fault() -> None:
    assert found(EndMaskOneStepOff(), on_policy(lambda of: gae(of, mask="none"))) == []


def test_fires_in_a_program_that_was_watched() -> None:
    assert findings(lambda: rollouts(lambda of: gae(of, late=True), length=40, count=3), "DIS301")


def test_fires_in_one_with_the_flag_of_the_step_after() -> None:
    assert findings(lambda: rollouts(lambda of: gae(of, mask="early"), length=40, count=3), "DIS301")


def test_quiet_in_a_program_without_the_fault() -> None:
    assert findings(rollouts, "DIS301") == []
