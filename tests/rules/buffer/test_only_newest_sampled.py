from __future__ import annotations

from rldebug.rules.buffer.only_newest_sampled import OnlyNewestSampled
from tests.judge import not_enough
from tests.programs.data import dqn, found, ppo, seen
from tests.watched import watched


def test_fires_where_eight_rows_are_drawn_from() -> None:
    assert found(OnlyNewestSampled(enough=4), seen(watched, "dqn", "newest only"))


def test_quiet_where_all_are() -> None:
    assert not found(OnlyNewestSampled(enough=4), seen(watched, "dqn"))


def test_another_algorithm_that_learns_from_its_newest_rollout_is_not_counted() -> None:
    def program() -> None:
        dqn(steps=60)
        ppo(phases=12)

    not_enough(OnlyNewestSampled(enough=2), watched(program)[1])
