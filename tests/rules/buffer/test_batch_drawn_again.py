from __future__ import annotations

from rldebug.rules.buffer.batch_drawn_again import BatchDrawnAgain
from tests.programs.data import found, seen
from tests.watched import watched


def test_fires_where_the_sampler_is_seeded_in_every_call() -> None:
    assert found(BatchDrawnAgain(), seen(watched, "dqn", "drawn again"))


def test_quiet_where_every_batch_is_another() -> None:
    assert not found(BatchDrawnAgain(), seen(watched, "dqn"))


def test_quiet_where_two_losses_share_a_batch() -> None:
    assert not found(BatchDrawnAgain(), seen(watched, "ddpg"))
