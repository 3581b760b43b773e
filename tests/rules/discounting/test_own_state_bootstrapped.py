"""V(s) where V of the next state belongs."""

from __future__ import annotations

from rldebug.rules.discounting.own_state_bootstrapped import OwnStateBootstrapped
from tests.forensics.simulated import gae
from tests.programs.formulas import found, on_policy


def test_the_value_of_the_state_itself_is_found() -> None:
    for lam in (0.9, 0.0):
        assert len(found(OwnStateBootstrapped(), on_policy(lambda of, lam=lam: gae(of, lam=lam, own=True)))) == 1  # type: ignore[misc]


def test_the_next_value_is_fine() -> None:
    assert found(OwnStateBootstrapped(), on_policy(gae)) == []
