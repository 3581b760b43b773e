"""Advantages in the rows of others."""

from __future__ import annotations

from rldebug.rules.advantage.advantages_in_another_order import AdvantagesInAnotherOrder
from tests.forensics.simulated import Array, Rollout, gae
from tests.programs.formula_learners import rollouts
from tests.programs.formulas import found, on_policy
from tests.watched import findings


def advantage(of: Rollout) -> Array:
    return gae(of) - of.value[:-1]


def test_fires_advantages_that_were_never_reversed_are_found() -> None:
    assert len(found(AdvantagesInAnotherOrder(), on_policy(gae, lambda of: advantage(of)[::-1]))) == 1


def test_quiet_advantages_in_their_rows_are_fine() -> None:
    assert found(AdvantagesInAnotherOrder(), on_policy(gae, advantage)) == []


def test_fires_in_a_program_that_was_watched() -> None:
    assert findings(lambda: rollouts(gae, lambda of: advantage(of)[::-1]), "ADV321")


def test_quiet_in_a_program_without_the_fault() -> None:
    assert findings(rollouts, "ADV321") == []
