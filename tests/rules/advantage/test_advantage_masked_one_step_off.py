"""The flag of the step before, in the recursion of the advantage."""

from __future__ import annotations

from rldebug.rules.advantage.advantage_masked_one_step_off import AdvantageMaskedOneStepOff
from tests.forensics.simulated import gae
from tests.programs.formulas import found, on_policy


def test_fires_the_flag_of_the_step_before_is_found() -> None:
    (finding,) = found(AdvantageMaskedOneStepOff(), on_policy(lambda of: gae(of, late=True)))
    assert "late" in finding.message


def test_quiet_the_right_flag_is_fine() -> None:
    assert found(AdvantageMaskedOneStepOff(), on_policy(gae)) == []
    assert found(AdvantageMaskedOneStepOff(), on_policy(lambda of: gae(of, mask="none"))) == []
