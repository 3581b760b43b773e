"""V(s) where V of the next state belongs."""

from __future__ import annotations

from rldebug.rules.discounting.own_state_bootstrapped import OwnStateBootstrapped
from tests.forensics.simulated import gae
from tests.programs.formula_learners import rollouts
from tests.programs.formulas import found, on_policy
from tests.watched import findings


def test_fires_the_value_of_the_state_itself_is_found() -> None:
    for lam in (0.9, 0.0):
        assert len(found(OwnStateBootstrapped(), on_policy(lambda of, lam=lam: gae(of, lam=lam, own=True)))) == 1  # type: ignore[misc]


def test_quiet_the_next_value_is_fine() -> None:
    assert found(OwnStateBootstrapped(), on_policy(gae)) == []


def test_fires_in_a_program_that_was_watched() -> None:
    assert findings(lambda: rollouts(lambda of: gae(of, own=True)), "DIS306")


def test_quiet_in_a_program_without_the_fault() -> None:
    assert findings(rollouts, "DIS306") == []
