"""A critic that learns to stay as it is."""

from __future__ import annotations

from rldebug.rules.value_loss.target_is_own_value import TargetIsOwnValue
from tests.forensics.simulated import gae
from tests.programs.formulas import found, on_policy


def test_the_value_itself_is_found() -> None:
    assert len(found(TargetIsOwnValue(), on_policy(lambda of: of.value[:-1]))) == 1


def test_a_target_with_rewards_is_fine() -> None:
    assert found(TargetIsOwnValue(), on_policy(gae)) == []
