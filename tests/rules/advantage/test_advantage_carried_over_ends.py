"""The carried sum at the end of an episode."""

from __future__ import annotations

from rldebug.rules.advantage.advantage_carried_over_ends import AdvantageCarriedOverEnds
from tests.forensics.simulated import gae
from tests.programs.formulas import found, on_policy


def test_a_sum_that_is_not_reset_is_found() -> None:
    assert len(found(AdvantageCarriedOverEnds(), on_policy(lambda of: gae(of, mask="carry")))) == 1


def test_a_sum_that_is_reset_is_fine() -> None:
    assert found(AdvantageCarriedOverEnds(), on_policy(gae)) == []
    assert found(AdvantageCarriedOverEnds(), on_policy(lambda of: gae(of, mask="none"))) == []
