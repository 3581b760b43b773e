"""Time limits learned as ends."""

from __future__ import annotations

from rldebug.rules.discounting.time_limit_ends_targets import TimeLimitEndsTargets
from tests.forensics.simulated import gae
from tests.programs.formula_learners import rollouts
from tests.programs.formulas import found, on_policy
from tests.watched import findings


def test_fires_a_limit_learned_as_an_end_is_a_note() -> None:
    (finding,) = found(TimeLimitEndsTargets(), on_policy(lambda of: gae(of, truncation="zero")))
    assert finding.severity == "note"


def test_quiet_bootstrapping_at_the_limit_is_fine() -> None:
    assert found(TimeLimitEndsTargets(), on_policy(gae)) == []


def test_fires_in_a_program_that_was_watched() -> None:
    assert findings(lambda: rollouts(lambda of: gae(of, truncation="zero")), "DIS304")


def test_quiet_in_a_program_without_the_fault() -> None:
    assert findings(rollouts, "DIS304") == []
