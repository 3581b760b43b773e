"""Advantages in the rows of others."""

from __future__ import annotations

from rldebug.rules.advantage.advantages_in_another_order import AdvantagesInAnotherOrder
from tests.forensics.simulated import Array, Rollout, gae
from tests.programs.formulas import found, on_policy


def advantage(of: Rollout) -> Array:
    return gae(of) - of.value[:-1]


def test_advantages_that_were_never_reversed_are_found() -> None:
    assert len(found(AdvantagesInAnotherOrder(), on_policy(gae, lambda of: advantage(of)[::-1]))) == 1


def test_advantages_in_their_rows_are_fine() -> None:
    assert found(AdvantagesInAnotherOrder(), on_policy(gae, advantage)) == []
