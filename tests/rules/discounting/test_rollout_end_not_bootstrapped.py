"""The last step of a rollout."""

from __future__ import annotations

from rldebug.rules.discounting.rollout_end_not_bootstrapped import RolloutEndNotBootstrapped
from tests.forensics.simulated import gae
from tests.programs.formulas import found, on_policy


def test_a_recursion_that_starts_from_nothing_is_found() -> None:
    (finding,) = found(RolloutEndNotBootstrapped(), on_policy(lambda of: gae(of, bootstrap="zero"), times=8))
    assert finding.severity == "warning"


def test_the_state_itself_is_found() -> None:
    (finding,) = found(RolloutEndNotBootstrapped(), on_policy(lambda of: gae(of, bootstrap="own"), times=8))
    assert "own state" in finding.message


def test_in_long_rollouts_it_is_a_note() -> None:
    (finding,) = found(RolloutEndNotBootstrapped(), on_policy(lambda of: gae(of, bootstrap="zero"), times=128))
    assert finding.severity == "note"


def test_a_bootstrapped_end_is_fine() -> None:
    assert found(RolloutEndNotBootstrapped(), on_policy(gae, times=8)) == []
