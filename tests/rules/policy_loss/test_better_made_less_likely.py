"""The sign of the policy loss, by what its weights are made of."""

from __future__ import annotations

from rldebug.rules.policy_loss.better_made_less_likely import BetterMadeLessLikely
from tests.forensics.simulated import Array, Rollout, gae, returns
from tests.programs.formula_learners import rollouts
from tests.programs.formulas import found, on_policy
from tests.watched import findings


def advantage(of: Rollout) -> Array:
    return gae(of) - of.value[:-1]


def test_fires_a_loss_without_its_minus_is_found() -> None:
    assert len(found(BetterMadeLessLikely(), on_policy(gae, advantage, coefficient=1.0))) == 1


def test_fires_value_minus_return_is_found() -> None:
    assert len(found(BetterMadeLessLikely(), on_policy(gae, lambda of: -advantage(of)))) == 1


def test_fires_returns_with_the_wrong_sign_are_found() -> None:
    assert len(found(BetterMadeLessLikely(), on_policy(None, returns, coefficient=1.0))) == 1


def test_quiet_both_signs_turned_are_fine() -> None:
    assert found(BetterMadeLessLikely(), on_policy(gae, lambda of: -advantage(of), coefficient=1.0)) == []


def test_quiet_the_right_sign_is_fine() -> None:
    assert found(BetterMadeLessLikely(), on_policy(gae, advantage)) == []
    assert found(BetterMadeLessLikely(), on_policy(None, returns)) == []


def test_fires_in_a_program_that_was_watched() -> None:
    assert findings(lambda: rollouts(sign=1.0), "POL340")


def test_quiet_in_a_program_without_the_fault() -> None:
    assert findings(rollouts, "POL340") == []
