"""The last step of a rollout."""

from __future__ import annotations

from rldebug.rules.discounting.rollout_end_not_bootstrapped import RolloutEndNotBootstrapped
from tests.forensics.simulated import gae
from tests.programs.formula_learners import rollouts
from tests.programs.formulas import found, on_policy
from tests.watched import findings


def test_fires_a_recursion_that_starts_from_nothing_is_found() -> None:
    (finding,) = found(RolloutEndNotBootstrapped(), on_policy(lambda of: gae(of, bootstrap="zero"), times=8))
    assert finding.severity == "warning"


def test_fires_the_state_itself_is_found() -> None:
    (finding,) = found(RolloutEndNotBootstrapped(), on_policy(lambda of: gae(of, bootstrap="own"), times=8))
    assert "own state" in finding.message


def test_fires_the_state_that_the_rollout_began_with_is_found() -> None:
    (finding,) = found(RolloutEndNotBootstrapped(), on_policy(lambda of: gae(of, bootstrap="begun"), times=8))
    assert "began with" in finding.message
    assert findings(lambda: rollouts(lambda of: gae(of, bootstrap="begun")), "DIS305")


def test_fires_in_long_rollouts_it_is_a_note() -> None:
    (finding,) = found(RolloutEndNotBootstrapped(), on_policy(lambda of: gae(of, bootstrap="zero"), times=128))
    assert finding.severity == "note"


def test_quiet_a_bootstrapped_end_is_fine() -> None:
    assert found(RolloutEndNotBootstrapped(), on_policy(gae, times=8)) == []


def test_fires_in_a_program_that_was_watched() -> None:
    assert findings(lambda: rollouts(lambda of: gae(of, bootstrap="zero")), "DIS305")


def test_quiet_in_a_program_without_the_fault() -> None:
    assert findings(rollouts, "DIS305") == []
