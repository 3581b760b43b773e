from __future__ import annotations

import pytest

from rldebug.rules.buffer.next_observation_unrelated import NextObservationUnrelated
from tests.programs.data import found, seen
from tests.watched import watched


def test_fires_on_next_observations_shuffled_apart() -> None:
    assert found(NextObservationUnrelated(), seen(watched, "dqn", "next shuffled"))


@pytest.mark.parametrize("bug", ["", "next is obs", "next is reset"])
def test_quiet_where_they_follow_or_are_the_same(bug: str) -> None:
    assert not found(NextObservationUnrelated(), seen(watched, "dqn", bug))


def test_quiet_with_a_critic_of_state_and_action() -> None:
    assert not found(NextObservationUnrelated(), seen(watched, "ddpg"))
