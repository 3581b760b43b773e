"""The sign of the policy loss, by what its weights are made of."""

from __future__ import annotations

from rldebug.rules.policy_loss.better_made_less_likely import BetterMadeLessLikely
from tests.forensics.simulated import Array, Rollout, gae, returns
from tests.programs.formulas import found, on_policy


def advantage(of: Rollout) -> Array:
    return gae(of) - of.value[:-1]


def test_a_loss_without_its_minus_is_found() -> None:
    assert len(found(BetterMadeLessLikely(), on_policy(gae, advantage, coefficient=1.0))) == 1


def test_value_minus_return_is_found() -> None:
    assert len(found(BetterMadeLessLikely(), on_policy(gae, lambda of: -advantage(of)))) == 1


def test_returns_with_the_wrong_sign_are_found() -> None:
    assert len(found(BetterMadeLessLikely(), on_policy(None, returns, coefficient=1.0))) == 1


def test_both_signs_turned_are_fine() -> None:
    assert found(BetterMadeLessLikely(), on_policy(gae, lambda of: -advantage(of), coefficient=1.0)) == []


def test_the_right_sign_is_fine() -> None:
    assert found(BetterMadeLessLikely(), on_policy(gae, advantage)) == []
    assert found(BetterMadeLessLikely(), on_policy(None, returns)) == []
