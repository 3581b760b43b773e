from __future__ import annotations

import pytest

from rldebug.rules.buffer.old_observation_acted_on import OldObservationActedOn
from tests.programs.data import found, seen
from tests.watched import watched


def test_fires_where_the_observation_never_advances() -> None:
    (finding,) = found(OldObservationActedOn(), seen(watched, "dqn", "first observation"))
    assert finding.seen.startswith("the first observation of the episode")


def test_fires_one_step_late() -> None:
    (finding,) = found(OldObservationActedOn(), seen(watched, "dqn", "old observation"))
    assert finding.seen.startswith("the observation of 1 env calls before")


@pytest.mark.parametrize("program", ["dqn", "ppo"])
def test_quiet_where_the_newest_is_acted_on(program: str) -> None:
    assert not found(OldObservationActedOn(), seen(watched, program))
