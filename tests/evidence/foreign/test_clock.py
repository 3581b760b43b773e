from pathlib import Path

import numpy as np

from rldebug.evidence.foreign.clock import env_steps_at, seconds_at, updates_at
from rldebug.evidence.foreign.log import Column, Log

LINES = np.array([1, 2, 3, 4])


def log(custom=False, **columns):
    made = {name: Column.of(cells) for name, cells in columns.items()}
    return Log("a CSV file", Path("progress.csv"), made, counts_env_steps=custom)


def test_env_steps_between_two_that_were_logged():
    steps, told = env_steps_at(log(global_step=[(1, 0.0, 100.0), (3, 0.0, 300.0)]), LINES)
    assert steps.tolist() == [100, 200, 300, 300]
    assert told


def test_steps_of_a_log_stand_for_env_steps_by_custom_only():
    assert env_steps_at(log(custom=True, a=[]), LINES)[1]
    steps, told = env_steps_at(log(a=[]), LINES)
    assert steps.tolist() == LINES.tolist()
    assert not told


def test_updates_stay_until_the_next_are_logged():
    updates, told = updates_at(log(n_updates=[(2, 0.0, 10.0), (4, 0.0, 20.0)]), LINES)
    assert updates.tolist() == [0, 10, 10, 20]
    assert told


def test_a_counter_that_is_not_finite_counts_nothing():
    assert not updates_at(log(n_updates=[(2, 0.0, float("nan"))]), LINES)[1]


def test_seconds_from_their_own_column_else_from_when_it_was_written():
    own = log(time_elapsed=[(1, 9.0, 1.0), (4, 9.0, 4.0)])
    assert seconds_at(own, LINES).tolist() == [1.0, 2.0, 3.0, 4.0]
    assert seconds_at(log(loss=[(1, 0.5, 7.0), (4, 2.0, 7.0)]), LINES).tolist() == [0.5, 1.0, 1.5, 2.0]
    assert seconds_at(log(loss=[(1, float("nan"), 7.0)]), LINES).tolist() == [0.0] * 4
