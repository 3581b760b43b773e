import pytest

from rldebug.rollout import Pace
from tests.metrics.reading import about, numbers

NAMES = "pace/env_steps pace/updates pace/samples pace/reuse"


@pytest.mark.parametrize("seconds", [0.5, 2.0, 60.0])
def test_rates_are_counts_over_seconds(seconds):
    pace = Pace(seconds=seconds, env_steps=640, updates=16, rows=1024)
    assert numbers(NAMES, pace) == (about(640 / seconds), about(16 / seconds), about(1024 / seconds), about(1.6))


def test_between_two_updates_on_the_same_rollout_nothing_is_collected():
    assert numbers(NAMES, Pace(seconds=0.1, env_steps=0, updates=1, rows=64)) == (None, about(10), about(640), None)


def test_updates_of_unknown_size_have_no_samples():
    assert numbers(NAMES, Pace(seconds=1.0, env_steps=64, updates=1, rows=0)) == (about(64), about(1), None, None)
