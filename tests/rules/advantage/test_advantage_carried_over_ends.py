"""The carried sum at the end of an episode."""

from __future__ import annotations

from rldebug.rules.advantage.advantage_carried_over_ends import AdvantageCarriedOverEnds
from tests.forensics.simulated import gae
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
