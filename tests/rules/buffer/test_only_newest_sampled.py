from __future__ import annotations

from rldebug.rules.buffer.only_newest_sampled import OnlyNewestSampled
from tests.programs.data import found, seen
from tests.watched import watched


def test_fires_where_eight_rows_are_drawn_from() -> None:
    assert found(OnlyNewestSampled(enough=4), seen(watched, "dqn", "newest only"))


def test_quiet_where_all_are() -> None:
    assert not found(OnlyNewestSampled(enough=4), seen(watched, "dqn"))
