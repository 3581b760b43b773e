"""The mask of the step before, or after."""

from __future__ import annotations

from rldebug.rules.discounting.end_mask_one_step_off import EndMaskOneStepOff
from rldebug.rules.discounting.target_runs_past_the_end import TargetRunsPastTheEnd
from tests.forensics.simulated import gae
from tests.programs.formulas import found, on_policy


def test_the_flag_of_the_step_before_is_found() -> None:
    (finding,) = found(EndMaskOneStepOff(), on_policy(lambda of: gae(of, late=True)))
    assert "late" in finding.message
    assert found(TargetRunsPastTheEnd(), on_policy(lambda of: gae(of, late=True))) == []


def test_the_right_flag_is_fine() -> None:
    assert found(EndMaskOneStepOff(), on_policy(gae)) == []


def test_no_mask_at_all_is_another_fault() -> None:
    assert found(EndMaskOneStepOff(), on_policy(lambda of: gae(of, mask="none"))) == []
