from __future__ import annotations

import pytest

from rldebug.rules.action_sampling.continuous_action_not_executed import ContinuousActionNotExecuted
from tests.programs.data import found, seen
from tests.watched import watched


def test_fires_where_the_action_without_noise_is_stored() -> None:
    assert found(ContinuousActionNotExecuted(), seen(watched, "ddpg", "no noise"))


@pytest.mark.parametrize("bug", ["", "not clipped", "scaled"])
def test_quiet_where_it_was_scaled_or_clipped_on_the_way(bug: str) -> None:
    assert not found(ContinuousActionNotExecuted(), seen(watched, "ddpg", bug))
