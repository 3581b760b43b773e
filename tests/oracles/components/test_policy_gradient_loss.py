from __future__ import annotations

from rldebug.oracles.components.policy_gradient_loss import POLICY_GRADIENT_LOSS
from tests.oracles.components.policy_oracles import assert_mistakes_differ, assert_variant_is_reference


def test_variant_is_the_reference():
    assert_variant_is_reference(POLICY_GRADIENT_LOSS)


def test_every_mistake_shows_and_differs_from_the_others():
    assert_mistakes_differ(POLICY_GRADIENT_LOSS)
