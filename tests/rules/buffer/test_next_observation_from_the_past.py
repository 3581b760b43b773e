from __future__ import annotations

import pytest

from rldebug.rules.buffer.next_observation_from_the_past import NextObservationFromThePast
from tests.programs.data import found, seen
from tests.watched import watched


def test_fires_where_rows_run_over_the_write_position() -> None:
    assert found(NextObservationFromThePast(), seen(watched, "dqn", "ring"))


@pytest.mark.parametrize("bug", ["", "next is reset"])
def test_quiet_where_rows_follow(bug: str) -> None:
    assert not found(NextObservationFromThePast(), seen(watched, "dqn", bug))
