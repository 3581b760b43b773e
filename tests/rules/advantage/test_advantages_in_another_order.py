"""Advantages in the rows of others."""

from __future__ import annotations

import numpy as np

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


def late(of: Rollout) -> Array:
    """Those of the step before; the first row has none."""
    return np.concatenate([np.full((1, of.value.shape[1]), 7.0), advantage(of)[:-1]])


def test_fires_advantages_of_the_step_before_are_found() -> None:
    assert "those of the step before" in found(AdvantagesInAnotherOrder(), on_policy(gae, late))[0].seen
