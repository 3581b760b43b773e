"""The reward where the return belongs, in the advantage."""

from __future__ import annotations

from rldebug.rules.advantage.reward_in_place_of_return import RewardInPlaceOfReturn
from tests.forensics.simulated import gae
from tests.programs.formula_learners import rollouts
from tests.programs.formulas import found, on_policy
from tests.watched import findings


def test_fires_reward_minus_value_is_found() -> None:
    assert len(found(RewardInPlaceOfReturn(), on_policy(gae, lambda of: of.reward - of.value[:-1]))) == 1


def test_quiet_return_minus_value_and_the_td_error_are_fine() -> None:
    assert found(RewardInPlaceOfReturn(), on_policy(gae, lambda of: gae(of) - of.value[:-1])) == []
    assert found(RewardInPlaceOfReturn(), on_policy(gae, lambda of: gae(of, 0.97, 0.0) - of.value[:-1])) == []


def test_fires_in_a_program_that_was_watched() -> None:
    assert findings(lambda: rollouts(gae, lambda of: of.reward - of.value[:-1]), "ADV324")


def test_quiet_in_a_program_without_the_fault() -> None:
    assert findings(rollouts, "ADV324") == []
