from __future__ import annotations

import pytest

from rldebug.rules.buffer.empty_rows_learned import EmptyRowsLearned
from tests.programs.data import found, seen
from tests.watched import watched


def test_fires_on_rows_that_were_never_written() -> None:
    (finding,) = found(EmptyRowsLearned(), seen(watched, "dqn", "empty rows"))
    assert finding.seen.startswith("16 of 32 rows")


@pytest.mark.parametrize("program", ["dqn", "ddpg"])
def test_quiet_where_all_rows_were_stored(program: str) -> None:
    assert not found(EmptyRowsLearned(), seen(watched, program))
