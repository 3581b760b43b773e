from __future__ import annotations

import pytest

from rldebug.rules.buffer.bootstrap_of_the_same_observation import BootstrapOfTheSameObservation
from tests.programs.data import found, seen
from tests.watched import watched


def test_fires_where_the_next_observation_is_the_observation() -> None:
    (finding,) = found(BootstrapOfTheSameObservation(), seen(watched, "dqn", "next is obs"))
    assert finding.where.line


@pytest.mark.parametrize("program", ["dqn", "ddpg"])
def test_quiet_where_it_is_the_next(program: str) -> None:
    assert not found(BootstrapOfTheSameObservation(), seen(watched, program))


def test_quiet_where_it_is_another() -> None:
    assert not found(BootstrapOfTheSameObservation(), seen(watched, "dqn", "next shuffled"))
