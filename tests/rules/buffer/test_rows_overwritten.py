from __future__ import annotations

import pytest

from rldebug.rules.buffer.rows_overwritten import RowsOverwritten
from tests.programs.data import found, seen
from tests.watched import watched


def test_fires_where_the_environment_hands_out_one_array() -> None:
    (finding,) = found(RowsOverwritten(), seen(watched, "dqn", "one array"))
    assert finding.seen.startswith("1 different rows")


@pytest.mark.parametrize("program", ["dqn", "ppo", "ddpg"])
def test_quiet_where_rows_differ(program: str) -> None:
    assert not found(RowsOverwritten(), seen(watched, program))
