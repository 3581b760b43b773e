from __future__ import annotations

import pytest

from rldebug.rules.buffer.new_data_never_sampled import NewDataNeverSampled
from tests.programs.data import found, seen
from tests.watched import watched


@pytest.mark.parametrize("bug", ["older half", "nothing new"])
def test_fires_where_the_newest_rows_are_left_out(bug: str) -> None:
    assert found(NewDataNeverSampled(), seen(watched, "dqn", bug))


@pytest.mark.parametrize("bug", ["", "newest only"])
def test_quiet_where_new_rows_are_drawn(bug: str) -> None:
    assert not found(NewDataNeverSampled(), seen(watched, "dqn", bug))
