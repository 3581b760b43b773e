"""The mask of the step before, or after."""

from __future__ import annotations

from rldebug.rules.discounting.end_mask_one_step_off import EndMaskOneStepOff
from rldebug.rules.discounting.target_runs_past_the_end import TargetRunsPastTheEnd
from tests.forensics.simulated import gae
from tests.programs.formula_learners import rollouts
from tests.programs.formulas import found, on_policy
from tests.watched import findings


def test_fires_the_flag_of_the_step_before_is_found() -> None:
    (finding,) = found(EndMaskOneStepOff(), on_policy(lambda of: gae(of, late=True)))
    assert "late" in finding.message
    assert found(TargetRunsPastTheEnd(), on_policy(lambda of: gae(of, late=True))) == []


def test_quiet_the_right_flag_is_fine() -> None:
    assert found(EndMaskOneStepOff(), on_policy(gae)) == []


def test_quiet_no_mask_at_all_is_another_fault() -> None:
    assert found(EndMaskOneStepOff(), on_policy(lambda of: gae(of, mask="none"))) == []


def test_fires_in_a_program_that_was_watched() -> None:
    assert findings(lambda: rollouts(lambda of: gae(of, late=True), length=40, count=3), "DIS301")


def test_quiet_in_a_program_without_the_fault() -> None:
    assert findings(rollouts, "DIS301") == []
